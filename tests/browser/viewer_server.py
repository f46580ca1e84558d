"""Serves PyTorch's unmodified MemoryViz.js on 127.0.0.1.

The viewer imports d3 from a content delivery network. An import map in the page redirects those addresses
to the ES modules of Debian's node-d3; the viewer itself stays as it is. (The single-file d3 would not do:
the viewer needs the live binding `d3.event`.)
"""

import http.server
import json
import pathlib
import re
import threading
import urllib.parse

NODE_MODULES = pathlib.Path("/usr/share/nodejs")

# Collects every error of the page, so that a test can ask for them.
PAGE = """<!DOCTYPE html><html><head><meta charset="utf-8"><title>memory_viz</title><script>
window.pageErrors = [];
addEventListener('error', e => pageErrors.push('error: ' + (e.message || e.target.src || e.type)), true);
addEventListener('unhandledrejection', e => pageErrors.push('rejection: ' + e.reason));
const report = console.error;
console.error = (...words) => { pageErrors.push('console: ' + words.join(' ')); report(...words); };
console.log = () => {};
</script><script type="importmap">%s</script></head><body>
<script type="module">import '/viewer/MemoryViz.js'; window.viewerReady = true;</script></body></html>"""


def import_map(viewer_folder):
    modules = {
        folder.name: f"/node/{folder.name}/src/index.js"
        for folder in NODE_MODULES.iterdir()
        if (folder.name.startswith("d3-") or folder.name in ("internmap", "delaunator"))
        and (folder / "src" / "index.js").exists()
    }
    imports = dict(modules)
    source = (viewer_folder / "MemoryViz.js").read_text()
    for address in re.findall(r'from\s+"(https://[^"]+)"', source):
        name = re.search(r"/(d3(?:-\w+)*)@", address)[1]
        imports[address] = "/node/d3/index.js" if name == "d3" else modules[name]
    return {"imports": imports}


def content_of(path, viewer_folder, page):
    """(type, bytes) of what a path names; None if nothing."""
    if path == "/":
        return "text/html", page
    if path == "/favicon.ico":
        return "image/x-icon", b""
    for prefix, folder in (("/viewer/", viewer_folder), ("/node/", NODE_MODULES)):
        if path.startswith(prefix) and ".." not in path:
            name = path[len(prefix) :]
            file = folder / (name if name.endswith(".js") else name + ".js")
            return ("text/javascript", file.read_bytes()) if file.is_file() else None
    return None


def serve(viewer_folder):
    """(server, address): serves until server.shutdown()."""
    page = (PAGE % json.dumps(import_map(viewer_folder))).encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            found = content_of(urllib.parse.unquote(self.path.split("?")[0]), viewer_folder, page)
            if found is None:
                return self.send_error(404)
            self.send_response(200)
            self.send_header("Content-Type", found[0])
            self.send_header("Content-Length", str(len(found[1])))
            self.end_headers()
            self.wfile.write(found[1])

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}/"
