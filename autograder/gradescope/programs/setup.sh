#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the place. It makes a virtual environment and tries it.
# To try it elsewhere: ATTEND_AUTOGRADER_ROOT names another place than /autograder, and ATTEND_PYTHON a Python whose
# packages are used; learners' code cannot read these, so what was not loaded before is missing: NumPy does, not PyTorch.
set -eu

root=${ATTEND_AUTOGRADER_ROOT:-/autograder}
source=$root/source

fits='import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))'
find_python() {
    local candidate
    for candidate in python3.13 python3.12 python3.11 python3; do
        if "$candidate" -I -c "$fits" 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    return 1
}

python=$root/venv/bin/python
packages() {
    "$1" -I -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
}

if [ -n "${ATTEND_PYTHON-}" ]; then
    echo "setup: the packages of $ATTEND_PYTHON are used, and nothing is installed"
    "$ATTEND_PYTHON" -m venv --without-pip "$root/venv"
    packages "$ATTEND_PYTHON" >"$(packages "$python")/packages.pth"
else
    if ! base=$(find_python); then
        echo "setup: no Python from 3.11 to 3.13 here; asking the system for 3.11"
        apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes python3.11 python3.11-venv
        base=$(find_python) || { echo "setup: still none; choose a base image that has one" >&2; exit 1; }
    fi
    "$base" -m venv "$root/venv"
    # This brings PyTorch for graphics cards. For the one without, several GB smaller, put --extra-index-url and the
    # address that pytorch.org shows under Get Started (Linux, Pip, CPU) on a line of its own in requirements.txt.
    "$python" -m pip install --no-input --disable-pip-version-check --no-cache-dir \
        -c "$source/kit/constraints.txt" -r "$source/requirements.txt"
fi

# The kit stays where it is: what must stay hidden may not lie among the packages, which learners' code can read.
echo "$source/kit" >"$(packages "$python")/kit.pth"
# Another wall before the solutions, for programs that are not root's.
chmod -R go-rwx "$source"
"$python" -B -I -m autograder.gradescope.ready "$root"
