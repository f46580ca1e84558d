"""A minimal W3C WebDriver client for Debian's chromedriver and chromium, of the standard library alone."""

import json
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

CALL_TIMEOUT_S = 120
POLL_INTERVAL_S = 0.05


class BrowserError(Exception):
    """What the browser or a script in the page reported."""


class Chrome:
    """A headless browser that reaches this machine only. Use it as a context manager."""

    def __init__(self, width=1600, height=1000):
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.profile = tempfile.mkdtemp(prefix="vramscope-chrome-")
        self.session = ""
        try:
            self.base = f"http://127.0.0.1:{self._port()}"
            self.session = "/session/" + self._call("POST", "/session", self._capabilities(width, height))["sessionId"]
        except BaseException:
            self.close()
            raise

    def _port(self):
        for line in self.driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                return found[1]
        raise BrowserError("chromedriver did not start")

    def _capabilities(self, width, height):
        options = [
            "--headless=new",
            "--no-sandbox",  # CI runs as root
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--force-device-scale-factor=1",
            f"--window-size={width},{height}",
            "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
            f"--user-data-dir={self.profile}",
        ]
        timeouts = {"script": CALL_TIMEOUT_S * 1000, "pageLoad": CALL_TIMEOUT_S * 1000}
        chrome = {
            "browserName": "chrome",
            "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"binary": "/usr/bin/chromium", "args": options},
            "timeouts": timeouts,
        }
        return {"capabilities": {"alwaysMatch": chrome}}

    def _call(self, method, path, body=None):
        request = urllib.request.Request(
            self.base + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=CALL_TIMEOUT_S) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise BrowserError(json.loads(error.read())["value"]["message"].split("\n")[0]) from None

    def _post(self, path, body):
        return self._call("POST", self.session + path, body)

    def open(self, url):
        self._post("/url", {"url": url})

    def run(self, code, *arguments):
        """Runs JavaScript in the page; returns what it returns."""
        return self._post("/execute/sync", {"script": code, "args": list(arguments)})

    def wait_for(self, expression, timeout=60):
        """Waits until a JavaScript expression is true."""
        end = time.monotonic() + timeout
        while not (value := self.run(f"return {expression}")):
            if time.monotonic() > end:
                raise BrowserError(f"not true within {timeout} s: {expression}")
            time.sleep(POLL_INTERVAL_S)
        return value

    def move_mouse(self, x, y):
        move = {"type": "pointerMove", "duration": 0, "x": int(x), "y": int(y)}
        self._post("/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [move]}]})

    def console(self):
        """The page's console since the last call: [{level, message}]."""
        return self._post("/se/log", {"type": "browser"})

    def close(self):
        try:
            if self.session:
                self._call("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait(timeout=30)
            shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
