/// What shells load: it hands the command line to `undead ---complete INDEX WORD...`.
enum CompletionScript {
  static let shells = ["bash", "zsh", "fish"]

  /// The one that the user works in.
  static var ownShell: String {
    System.environment("SHELL").map { String($0.split(separator: "/").last ?? "") } ?? ""
  }

  static func text(for shell: String) throws -> String {
    switch shell {
    case "bash": bash
    case "zsh": zsh
    case "fish": fish
    default:
      throw ValidationError(
        "There is no completion script for '\(shell)'; give one of: \(shells.joined(separator: ", "))")
    }
  }

  private static let bash = #"""
    _undead() {
        local answer current=${COMP_WORDS[COMP_CWORD]}
        [[ $current == = ]] && current=
        COMPREPLY=()
        while IFS= read -r answer; do
            case $answer in
                $'\tfile') mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current") ;;
                $'\tdirectory') mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$current") ;;
                ?*) COMPREPLY+=("${answer%%$'\t'*}") ;;
            esac
        done < <("${COMP_WORDS[0]}" ---complete "$COMP_CWORD" "${COMP_WORDS[@]}" 2>/dev/null)
        [[ ${COMPREPLY-} != *= ]] || compopt -o nospace 2>/dev/null
    }

    complete -o filenames -F _undead undead
    """#

  private static let zsh = #"""
    #compdef undead

    _undead() {
        local answer
        local -a offers
        for answer in "${(@f)$("${words[1]}" ---complete $((CURRENT - 1)) "${words[@]}" 2>/dev/null)}"; do
            case $answer in
                $'\tfile') compset -P '--*='; _files ;;
                $'\tdirectory') compset -P '--*='; _files -/ ;;
                ?*) offers+=("${${answer//:/\\:}/$'\t'/:}") ;;
            esac
        done
        [[ ${#offers} -eq 0 ]] || _describe 'undead' offers
    }

    _undead "$@"
    """#

  private static let fish = #"""
    function __undead_complete
        set -l token (commandline -ct)
        test -n "$token"; or set token ''
        set -l typed (commandline -opc) $token
        set -l option (string match -r -- '^--[^=]*=' $token)
        for answer in (command $typed[1] ---complete (math (count $typed) - 1) $typed 2>/dev/null)
            test -n "$answer"; or continue
            switch $answer
                case \tfile
                    for path in (__fish_complete_path (string replace -- "$option" '' $token))
                        printf '%s\n' "$option$path"
                    end
                case \tdirectory
                    for path in (__fish_complete_directories (string replace -- "$option" '' $token))
                        printf '%s\n' "$option$path"
                    end
                case '*'
                    printf '%s\n' $answer
            end
        end
    end

    complete -c undead -f -a '(__undead_complete)'
    """#
}
