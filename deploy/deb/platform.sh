# shellcheck shell=sh
# Read by build.sh and lock.sh: what pip is told of a release and an architecture ($release, $arch).
# shellcheck disable=SC2034  # all that is set here is for them

: "${release:?}" "${arch:?}"
case "$release" in
    bookworm) python_version=3.11 python_after=3.12 glibc="17 24 26 27 28 31 34 35" ;;
    trixie) python_version=3.13 python_after=3.14 glibc="17 24 26 27 28 31 34 35 38 39 40" ;;
    *) echo "there is no release $release here: bookworm or trixie" >&2; exit 2 ;;
esac
case "$arch" in
    amd64) machine=x86_64 ;;
    arm64) machine=aarch64 ;;
    *) echo "there is no architecture $arch here: amd64 or arm64" >&2; exit 2 ;;
esac
pip_platform="--only-binary=:all: --implementation cp --python-version $python_version"
for minor in $glibc; do
    pip_platform="$pip_platform --platform manylinux_2_${minor}_$machine"
done
pip_platform="$pip_platform --platform manylinux2014_$machine"
