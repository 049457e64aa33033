#!/usr/bin/env bash
# Prints the path of a Chromium or Chrome that runs, after getting one if there is none.
# Everything else it has to say goes to stderr.
set -u

python="${VENV:-.venv}/bin/python"
log=$(mktemp)
trap 'rm -f "$log"' EXIT

found() {
    local path
    path=$(command -v "$1") || return 1
    "$path" --version >/dev/null 2>&1 || return 1
    printf '%s\n' "$path"
}

installed() {
    local name
    for name in chromium chromium-browser google-chrome google-chrome-stable \
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" \
        "/Applications/Chromium.app/Contents/MacOS/Chromium" \
        "$HOME/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"; do
        found "$name" && return
    done
    return 1
}

playwrights() {
    local path
    path=$("$python" - 2>/dev/null <<'PYTHON'
from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
PYTHON
    ) || return 1
    found "$path"
}

is_root_with_apt() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null
}

if [ -n "${CHROMIUM:-}" ]; then
    found "$CHROMIUM" && exit
    echo "CHROMIUM is set to '$CHROMIUM', which does not run." >&2
    exit 1
fi

installed && exit
playwrights && exit

if is_root_with_apt; then
    echo "No Chromium or Chrome here: installing Debian's package chromium ..." >&2
    export DEBIAN_FRONTEND=noninteractive
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } \
        >"$log" 2>&1 </dev/null && installed && exit
    tail -n 5 "$log" >&2
fi

echo "No Chromium or Chrome here: installing playwright's own ..." >&2
if is_root_with_apt; then with_deps=--with-deps; else with_deps=; fi
# shellcheck disable=SC2086
"$python" -m playwright install $with_deps chromium >"$log" 2>&1 </dev/null && playwrights && exit
tail -n 5 "$log" >&2

cat >&2 <<'WORDS'
The browser tests need Chromium or Chrome, and none could be installed. Install one (Debian: apt-get
install chromium; macOS: Google Chrome), or name one: make test CHROMIUM=/path/to/chromium.
Without a browser: make test-fast.
WORDS
exit 1
