"""PyTorch's viewer in a browser: drops a snapshot on the page and reads back what was drawn."""

import base64

# The viewer's own limit: only the largest elements are drawn, the rest is one band.
DRAWN_AT_MOST = 15_000

DROP_FILE = """
const [name, base64] = arguments;
const bytes = Uint8Array.from(atob(base64), c => c.charCodeAt(0));
const transfer = new DataTransfer();
transfer.items.add(new File([bytes], name));
document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: transfer, bubbles: true, cancelable: true}));
"""
# The page's drop-down lists: snapshot, view, device.
VIEW_CHOICE, DEVICE_CHOICE = 1, 2
CHOOSE = """
const list = document.querySelectorAll('select')[arguments[0]];
list.value = arguments[1];
if (list.value !== arguments[1]) throw new Error('no choice ' + arguments[1]);
list.dispatchEvent(new Event('change'));
"""
OPTIONS = "return [...document.querySelectorAll('select')[arguments[0]].options].map(o => o.text)"
TWO_FRAMES = "return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))"
SHOWN = """
const shown = [...document.body.children].filter(
  d => d.tagName == 'DIV' && getComputedStyle(d).display != 'none' && d.querySelector('svg,pre,p')).at(-1);
"""
# d3 keeps what a polygon stands for in __data__: an allocation has a numeric `elem`, the band of the rest
# is 'summarized'.
TIMELINE = (
    SHOWN
    + """
const polygons = [...shown.querySelectorAll('polygon')];
const drawn = polygons.map(p => p.__data__).filter(d => d && typeof d.elem === 'number');
const rest = polygons.map(p => p.__data__).find(d => d && d.elem === 'summarized');
let peak = 0;
for (const d of drawn) d.offsets.forEach(offset => peak = Math.max(peak, offset + d.size));
for (let i = 0; i < rest.size.length; i++) peak = Math.max(peak, rest.offsets[i] + rest.size[i]);
const width = Math.max(...polygons.map(p => p.getBoundingClientRect().width));
return {polygons: polygons.length, peak, width,
        malformed: polygons.filter(p => /NaN|undefined/.test(p.getAttribute('points'))).length};
"""
)
# A point of the page where an allocation is drawn: [x, y, its number, its bytes].
POINT_ON_AN_ALLOCATION = (
    SHOWN
    + """
const box = shown.querySelector('svg').getBoundingClientRect();
for (let k = 0; k < 900; k++) {
  const x = Math.round(box.left + box.width * (.1 + .85 * ((k * 37) % 100) / 100));
  const y = Math.round(box.bottom - box.height * (.02 + .9 * ((k * 53) % 100) / 100));
  const d = document.elementFromPoint(x, y)?.__data__;
  if (typeof d?.elem === 'number') return [x, y, d.elem, d.size];
}
"""
)
HOVER_TEXT = SHOWN + "return [...shown.querySelectorAll('pre')].at(-1).textContent"
EVENT_LINES = "const lines = [...shown.querySelectorAll('pre')].filter(p => p.__data__ && p.__data__.action);"
SELECT_EVENT = (
    SHOWN
    + EVENT_LINES
    + """
const line = lines[Math.min(lines.length - 1, Math.floor(lines.length * arguments[0]))];
line.dispatchEvent(new MouseEvent('mousedown', {bubbles: true}));
line.dispatchEvent(new MouseEvent('mouseout', {bubbles: true}));
"""
)
STATE_HISTORY = (
    SHOWN
    + EVENT_LINES
    + """
const data = [...shown.querySelectorAll('rect')].map(r => r.__data__).filter(d => d);
const summary = [...shown.querySelectorAll('pre')].map(p => p.textContent).filter(t => /allocated \\/ /.test(t)).at(-1);
return {events: lines.length, segments: data.filter(d => 'occupied' in d).length,
        blocks: data.filter(d => 'requested_size' in d).length / 2, summary};
"""
)


class ViewerPage:
    def __init__(self, chrome, address):
        self.chrome = chrome
        self.address = address

    def drop(self, name, content):
        """Loads the page afresh and drops a file on it; returns the page's errors."""
        self.chrome.open(self.address)
        self.chrome.wait_for("window.viewerReady")
        self.chrome.console()
        self.chrome.run(DROP_FILE, name, base64.b64encode(content).decode())
        self.chrome.wait_for("document.querySelector('polygon') || pageErrors.length")
        self.chrome.run(TWO_FRAMES)
        return self.errors()

    def errors(self):
        return self.chrome.run("return pageErrors")

    def severe_messages(self):
        return [entry["message"] for entry in self.chrome.console() if entry["level"] == "SEVERE"]

    def views(self):
        return self.chrome.run(OPTIONS, VIEW_CHOICE)

    def show(self, view):
        self._choose(VIEW_CHOICE, view)

    def show_device(self, device):
        self._choose(DEVICE_CHOICE, device)

    def _choose(self, choice, value):
        self.chrome.run(CHOOSE, choice, str(value))
        self.chrome.run(TWO_FRAMES)

    def timeline(self):
        return self.chrome.run(TIMELINE)

    def hover_over_an_allocation(self):
        """(number, bytes, text that the viewer shows) of an allocation under the real mouse."""
        x, y, number, size = self.chrome.run(POINT_ON_AN_ALLOCATION)
        self.chrome.move_mouse(x, y)
        return number, size, self.chrome.run(HOVER_TEXT)

    def select_event(self, fraction):
        """Selects an event of the state history: 0 the first, 1 the last."""
        self.chrome.move_mouse(0, 0)  # over a block, the viewer would show that instead
        self.chrome.run(SELECT_EVENT, fraction)

    def state_history(self):
        return self.chrome.run(STATE_HISTORY)
