# Swift with the tool: for CI jobs and development containers. The context is a folder with the Debian package of a release.
#
#   docker build --tag swift-undead --file Recipes/container/Dockerfile.tool FOLDER
#   docker run --rm --volume "$PWD:/package" swift-undead undead test
FROM swift:6.3-bookworm
COPY undead.deb /tmp/
# The package has no dependency but the C library. Lines of functions come from the symboliser of the toolchain.
RUN dpkg --install /tmp/undead.deb && rm /tmp/undead.deb && undead --version
WORKDIR /package
CMD ["undead", "help"]
