"""Pages for a browser: some write their text, some try to get out, some take all they can get."""

WRITTEN = """<!doctype html><title>Loading</title><link rel=stylesheet href=/hide.css><h1>Light</h1>
<p class=never>This sentence is hidden by a style sheet.</p><p class=tiny>So is this one.</p>
<p class=off>And this, beyond the edge.</p><p class=sr>And this, in a box of one pixel.</p>
<p class=clear>And this, of clear ink.</p>
<div class=under>covered <b class=over>but this shows</b></div>
<form><input name=childNodes><input name=parentNode><p class=never>a form that names itself</p></form>
<p hidden style="display:block">Shown after all.</p><span class=block>one</span><span class=block>two</span>
<details><summary>More</summary><p>Behind a fold.</p></details><div id=comments><p id=said></p></div>
<plaintext-x></plaintext-x><input type=search name=q>
<script>
const made = document.createElement("plaintext"); made.className = "never"; made.textContent = "plain <b> text";
document.querySelector("plaintext-x").append(made);
document.querySelector("input[type=search]").value = "light";
Node.prototype.appendChild.call = () => {}; window.getComputedStyle = () => ({display: "block"});
Object.defineProperty(Node.prototype, "nodeType", {get: () => 8});
const host = document.createElement("x-card"); document.body.append(host);
host.attachShadow({mode: "open"}).innerHTML = "<p>In a shadow.</p><slot></slot>"; host.append("In its slot.");
</script><script type=module src=/late.mjs></script>"""
SHEET = """.never{display:none}.tiny{font-size:0}.off{position:absolute;left:-9999px}.clear{color:transparent}
.sr{position:absolute;width:1px;height:1px;overflow:hidden}.under{visibility:hidden}.over{visibility:visible}
.block{display:block}"""
MODULE = """const said = await (await fetch("/data.json")).json();
setTimeout(() => { document.title = "Light"; document.getElementById("said").textContent = said.text; }, 1500);"""

SOCIAL = """<p>It began.</p><script>
alert("a"); confirm("b"); prompt("c"); open("/popup"); open("/popup2");
const link = document.createElement("a"); link.href = URL.createObjectURL(new Blob(["x"]));
link.download = "x.exe"; link.click();
const tell = (what) => { const p = document.createElement("p"); p.textContent = what; document.body.append(p); };
navigator.serviceWorker.register("/sw.js").then(() => tell("a worker serves"), () => tell("no worker serves"));
tell("cookie " + document.cookie + " store " + (localStorage.x || "empty") + " online " + navigator.onLine);
document.cookie = "id=1; Secure"; localStorage.x = "full"; Notification.requestPermission().then(tell);
fetch("https://other.example.net/secret").then(() => tell("web security is off"), () => tell("web security is on"));
fetch("https://other.example.net/shared").then((got) => got.text()).then(tell);
fetch("/moved").then((got) => got.text()).then(tell);
fetch("/post", {method: "POST", body: "x"}).then(() => tell("posted"), () => tell("not posted"));
setTimeout(() => location = "/elsewhere", 200); setTimeout(() => tell("It stayed."), 900);
</script>"""

ESCAPES = """<p>Nothing gets out.</p>
<link rel=stylesheet href="http://127.0.0.1:PORT/c.css">
<link rel=prefetch href="https://127.0.0.1:PORT/">
<link rel=preconnect href="https://127.0.0.1:PORT"><img src="https://127.0.0.1:PORT/i.png">
<script src="https://127.0.0.1:PORT/s.js"></script>
<style>@import "https://localhost:PORT/i.css"; p{background:url(https://127.0.0.1:PORT/b.png)}</style>
<iframe src="https://127.0.0.1:PORT/frame"></iframe>
<iframe srcdoc="<script src='https://127.0.0.1:PORT/s.js'></script>"></iframe>
<iframe src="data:text/html,<script>fetch('https://127.0.0.1:PORT/')</script>"></iframe>
<object data="https://127.0.0.1:PORT/o"></object>
<video src="https://127.0.0.1:PORT/v"></video><form id=f method=post action="https://127.0.0.1:PORT/f" target=x></form>
<script>
const urls = ["https://127.0.0.1:PORT/", "http://127.0.0.1:PORT/", "https://[::1]:PORT/", "http://localhost:PORT/",
  "file:///etc/passwd",
  "https://169.254.169.254/latest/meta-data", "http://169.254.169.254/", "https://inner.example.org/", "https://meta.example.org/",
  "https://mixed.example.org/", "https://www.example.org:PORT/", "http://www.example.org/", "https://2130706433/",
  "/to-inner", "/to-http"];
let read = 0;
const trying = urls.map((url) => fetch(url, {mode: "no-cors"}).then(() => read += 1, () => 0));
const tell = (what) => { const p = document.createElement("p"); p.textContent = what; document.body.append(p); };
Promise.all(trying).then(() => tell(read + " of " + urls.length + " were read"));
new WebSocket("wss://127.0.0.1:PORT/"); try { new WebSocket("ws://127.0.0.1:PORT/"); } catch {}
new EventSource("https://127.0.0.1:PORT/e"); navigator.sendBeacon("https://127.0.0.1:PORT/b", "x");
const code = "for (const u of ['https://127.0.0.1:PORT/','http://127.0.0.1:PORT/']) " +
  "fetch(u, {mode: 'no-cors'}).catch(() => 0); " +
  "try { importScripts('https://127.0.0.1:PORT/w.js') } catch {}";
new Worker(URL.createObjectURL(new Blob([code])));
const turn = {urls: "turn:127.0.0.1:PORT?transport=tcp", username: "u", credential: "c"};
const peer = new RTCPeerConnection({iceServers: [turn]});
peer.createDataChannel("x"); peer.createOffer().then((offer) => peer.setLocalDescription(offer));
document.getElementById("f").submit(); open("https://127.0.0.1:PORT/popup");
</script>"""
HOG = "<p>More.<script>const all=[];for(;;){const b=new Uint8Array(32<<20);b.fill(7);all.push(b)}</script>"
SPIN = "<p>Round.<script>while(true){}</script>"
FLOOD = "<p>x<script>let n=0;setInterval(()=>{for(let i=0;i<400;i++)fetch('/f'+n++).catch(()=>0)},1)</script>"
LEAVES = "<p>x<script>location=URL.createObjectURL(new Blob(['<p>Other text.'],{type:'text/html'}))</script>"
SHEETS = "<p>x" + "".join(f"<link rel=stylesheet href=/s{number}.css>" for number in range(70))
