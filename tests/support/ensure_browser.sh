#!/usr/bin/env bash
# Prints the path of a Chromium or Chrome that runs, after getting one if there is none. Best is the
# headless shell, the same browser without a window, which takes a third of the time.
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

headless_shell() {
    found chromium-headless-shell || found chrome-headless-shell || playwrights
}

with_a_window() {
    local name
    for name in chromium chromium-browser google-chrome google-chrome-stable \
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" \
        "/Applications/Chromium.app/Contents/MacOS/Chromium" \
        "$HOME/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"; do
        found "$name" && return
    done
    return 1
}

# Where playwright keeps its headless shell lies beside where it keeps its Chromium.
playwrights() {
    local path
    path=$("$python" - 2>/dev/null <<'PYTHON'
from pathlib import Path

from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    chromium = Path(playwright.chromium.executable_path)
build = next(parent for parent in chromium.parents if parent.name.startswith("chromium-"))
shells = build.with_name(build.name.replace("chromium-", "chromium_headless_shell-"))
programs = [*shells.glob("*/headless_shell"), *shells.glob("*/chrome-headless-shell"), chromium]
print(next(path for path in programs if path.exists()))
PYTHON
    ) || return 1
    found "$path"
}

is_root_with_apt() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null
}

apt_installs() {
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1" </dev/null
}

if [ -n "${CHROMIUM:-}" ]; then
    found "$CHROMIUM" && exit
    echo "CHROMIUM is set to '$CHROMIUM', which does not run." >&2
    exit 1
fi

headless_shell && exit
if is_root_with_apt; then
    echo "Installing a browser for the tests (Debian's chromium-headless-shell) ..." >&2
    {
        apt_installs chromium-headless-shell \
            || { apt-get update -qq && apt_installs chromium-headless-shell; }
    } >"$log" 2>&1
    headless_shell && exit
fi

with_a_window && exit
if is_root_with_apt; then
    apt_installs chromium >>"$log" 2>&1
    with_a_window && exit
    tail -n 5 "$log" >&2
fi

echo "No Chromium or Chrome here: installing playwright's own ..." >&2
if is_root_with_apt; then with_deps=--with-deps; else with_deps=; fi
# shellcheck disable=SC2086
"$python" -m playwright install $with_deps --only-shell chromium >"$log" 2>&1 </dev/null \
    && playwrights && exit
tail -n 5 "$log" >&2

cat >&2 <<'WORDS'
The browser tests need Chromium or Chrome, and none could be installed. Install one (Debian: apt-get
install chromium-headless-shell; macOS: Google Chrome), or name one: make test
CHROMIUM=/path/to/chromium. Without a browser: make test-fast.
WORDS
exit 1
