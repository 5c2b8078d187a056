#!/usr/bin/env bash
# The checks of a small change, for while you work: style, floors, types, and the tests beside the files that differ from
# a branch (main, or the first argument). Under two minutes on two cores; `.ci/run` is everything.
set -euo pipefail
cd "$(dirname "$0")/.."
base=${1:-main}

ruff check --quiet .
ruff format --quiet --check .
lint-imports --no-cache >/dev/null || lint-imports
mypy & types=$!

# pytest_puma/gates/grammar.py has its tests in tests/gates/test_grammar*.py; a room whose file has none runs as a whole.
tests=()
while read -r file; do
    case $file in
    tests/*/test_*.py) [ -e "$file" ] && tests+=("$file") ;;
    pytest_puma/*/*.py)
        folder=$(dirname "tests/${file#pytest_puma/}")
        name=$(basename "$file" .py)
        found=("$folder"/test_"$name"*.py)
        if [ -e "${found[0]}" ]; then tests+=("${found[@]}"); elif [ -d "$folder" ]; then tests+=("$folder"); fi
        ;;
    esac
done < <(git diff --name-only "$base" -- '*.py'; git ls-files --others --exclude-standard -- '*.py')
mapfile -t tests < <(printf '%s\n' "${tests[@]:-tests/test_sizes.py}" | sort -u)
pytest -q "${tests[@]}"
wait "$types"
