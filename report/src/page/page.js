"use strict";
const { report, timeline } = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);

/** An element; strings among the children are text, never markup. */
function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "rect", "text", "line", "g", "title"].includes(tag);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter(child => child !== null && child !== undefined));
  return element;
}

const amount = (value, units, step) => {
  let k = 0;
  while (value >= step && k + 1 < units.length) { value /= step; k++; }
  return `${value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toPrecision(3)} ${units[k]}`;
};
const bytes = value => value === null || value === undefined ? "symbolic" : amount(value, ["B", "KiB", "MiB", "GiB"], 1024);
const time = nanos => nanos < 1e9 ? amount(nanos, ["ns", "µs", "ms"], 1000) : `${(nanos / 1e9).toPrecision(3)} s`;
const percent = share => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}%`;
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

function tip(element, text) {
  element.addEventListener("mousemove", event => {
    const box = $("tip");
    box.textContent = text;
    box.hidden = false;
    box.style.left = `${Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 8)}px`;
    box.style.top = `${Math.min(event.clientY + 14, innerHeight - box.offsetHeight - 8)}px`;
  });
  element.addEventListener("mouseleave", () => { $("tip").hidden = true; });
  return element;
}

/** A part of a whole as a bar. */
function bar(share, kind = "") {
  return make("span", { class: "track" }, make("span", { class: `bar ${kind}`, style: `width:${Math.max(0, Math.min(1, share)) * 100}%` }));
}

function sourceText(source) {
  const file = source.file.split("/").pop();
  const place = source.line ? `${file}:${source.line}` : file;
  return [source.name, source.module && `in ${source.module}`, place && `at ${place}`].filter(Boolean).join(" ");
}

/** Lines of the user's program, each once, with the operators that stand there. */
function placesOf(compilation, sources) {
  const places = new Map();
  for (const source of sources.map(k => compilation.sources[k])) {
    const key = source.line ? `${source.file}:${source.line}` : source.module;
    if (!places.has(key)) places.set(key, { source, names: [] });
    places.get(key).names.push(source.name);
  }
  return [...places.values()];
}

let program, compilation, picked;

function show(number) {
  program = report.programs[number];
  compilation = program.compilation;
  picked = null;
  for (const section of document.querySelectorAll("main > section")) section.replaceChildren();
  summary();
  kernels();
  levels();
  passes();
  spans(number);
  memory();
  cache();
  guards();
}

function tile(value, text) {
  return make("div", { class: "tile" }, make("b", {}, value), make("span", {}, text));
}

function summary() {
  const { call } = program;
  const compile = compilation.stages.filter(stage => !stage.name.includes(":")).reduce((sum, stage) => sum + stage.micros, 0);
  const launches = compilation.kernels.reduce((sum, kernel) => sum + kernel.launches, 0);
  $("summary").append(
    make("h2", {}, program.name),
    make("div", { class: "tiles" },
      call && tile(time(call.median), `a call (99% below ${time(call.p99)})`),
      tile(time(compile * 1000), "to compile"),
      tile(String(compilation.kernels.length), `kernels, launched ${plural(launches, "time")}`),
      compilation.arena_bytes !== null && tile(bytes(compilation.arena_bytes), "of planned memory"),
      tile(bytes(program.weight_bytes), "of weights"),
      tile(String(program.guards.length), "conditions on a call")),
    make("p", { class: "soft", style: "margin-top:10px" },
      `For ${compilation.target}, here ${plural(report.threads, "thread")} of ${report.machine}.`,
      call ? ` Called with ${call.inputs.join(", ")}.` : ""),
    ...report.notes.map(note => make("p", { class: "warn" }, note)));
}

function kernels() {
  const { call } = program;
  const rows = new Map((call ? call.roofline.kernels : []).map(row => [row.name, row]));
  const order = [...compilation.kernels].sort((a, b) => (rows.get(b.name)?.part ?? 0) - (rows.get(a.name)?.part ?? 0));
  const head = ["kernel", "from"].map(name => make("th", {}, name));
  const numbers = ["launches", "a launch", "of the call", "bytes", "operations", "of the machine's limit", "predicted"];
  const body = order.map(kernel => {
    const row = rows.get(kernel.name);
    const from = placesOf(compilation, kernel.sources);
    const cell = (...content) => make("td", { class: "number" }, ...content);
    const shown = from.slice(0, 3).map(({ source, names }) =>
      tip(make("div", {}, sourceText({ ...source, name: names.slice(0, 6).join(", ") + (names.length > 6 ? ", …" : "") })), `${source.file}:${source.line}`));
    const rest = from.length > 3 ? make("div", { class: "soft" }, `and ${plural(from.length - 3, "other line")}`) : null;
    const schedule = make("details", { onclick: event => event.stopPropagation() }, make("summary", {}, "schedule"),
      ...kernel.schedule.map(text => make("pre", {}, text)));
    const line = make("tr", { class: "link", onclick: () => pick(line, new Set(kernel.sources), kernel.name) },
      make("td", { class: "code" }, make("b", {}, `@${kernel.name}`), kernel.schedule.length ? schedule : null),
      make("td", {}, shown, rest),
      cell(String(kernel.launches)),
      cell(row ? time(row.micros * 1e3) : ""),
      cell(row ? [bar(row.part), percent(row.part)] : ""),
      cell(bytes(kernel.bytes)),
      cell(kernel.flops === null ? "symbolic" : amount(kernel.flops, ["", "k", "M", "G"], 1000)),
      cell(row && row.share !== null ? [bar(row.share, row.limit), `${percent(row.share)} of ${row.limit}`] : ""),
      cell(kernel.predicted_nanos === null ? "" : time(kernel.predicted_nanos)));
    return line;
  });
  const limits = call && call.roofline.flops
    ? ` The limit is ${amount(call.roofline.flops / 1e9, ["GFLOP/s", "TFLOP/s"], 1000)} of f32 arithmetic, or a copy of as many bytes, both measured on this machine.` : "";
  $("kernels").append(make("h2", {}, "Kernels"),
    make("p", { class: "soft" }, `Choose one to see what it was at each level.${limits}`),
    make("table", {}, make("thead", {}, make("tr", {}, head, numbers.map(name => make("th", { class: "number" }, name)))), make("tbody", {}, body)));
}

/** Marks what has one of these sources, in all levels. */
function pick(row, sources, name) {
  for (const other of document.querySelectorAll("tr.picked")) other.classList.remove("picked");
  const same = picked && picked.row === row;
  picked = same ? null : { row, sources, name };
  if (!same && row) row.classList.add("picked");
  mark();
  if (picked) $("levels").scrollIntoView({ behavior: "smooth" });
}

function mark() {
  for (const text of document.querySelectorAll(".text")) {
    let first = null;
    for (const line of text.children) {
      const found = Boolean(picked) && (line.sources.some(k => picked.sources.has(k)) && !line.header);
      line.classList.toggle("picked", found);
      if (found) first ??= line;
    }
    const named = picked && [...text.children].find(line => line.textContent.includes(`loop.kernel @${picked.name} `));
    const target = named || first;
    if (target) text.scrollTop = target.offsetTop - text.offsetTop - 40;
  }
}

function levels() {
  const names = compilation.levels.map(level => level.name);
  const wanted = ["aten", "prim-fused", "loop-scheduled"].filter(name => names.includes(name));
  const shown = (wanted.length ? wanted : names.slice(0, 3)).map(name => pane(name));
  const panes = make("div", { class: "panes" }, shown.map(one => one.element));
  $("levels").append(make("h2", {}, "Levels, side by side"),
    make("p", { class: "soft" }, "Point at a line to see what it comes from; choose it to mark the same operators at the other levels."), panes);
  shown.forEach(one => one.begin());
}

function pane(name) {
  const text = make("div", { class: "text" });
  const choice = make("select", { onchange: () => fill(choice.value) },
    compilation.levels.map(level => make("option", { value: level.name, selected: level.name === name }, level.name)));
  const about = make("span", { class: "soft" });
  function fill(wanted) {
    const level = compilation.levels.find(level => level.name === wanted);
    const lines = level.text.split("\n").map((content, k) => {
      const sources = level.lines[k] ?? [];
      const line = make("div", { class: sources.length ? "line linked" : "line" }, content || " ");
      line.sources = sources;
      line.header = content.endsWith("{") && sources.length > 40;
      if (sources.length) {
        tip(line, sources.slice(0, 12).map(k => sourceText(compilation.sources[k])).join("\n"));
        line.addEventListener("click", () => pick(null, new Set(sources), ""));
      }
      return line;
    });
    if (level.left_out) lines.push(Object.assign(make("div", { class: "line soft" }, `... ${plural(level.left_out, "further line")}: rs-compile --emit=mlir --to=${level.name}`), { sources: [] }));
    text.replaceChildren(...lines);
    about.textContent = level.description;
    begin();
    mark();
  }
  /** Scrolls past the names of affine maps, which come first. */
  function begin() {
    const first = [...text.children].find(line => line.textContent.startsWith("module"));
    if (first) text.scrollTop = first.offsetTop - text.offsetTop;
  }
  fill(name);
  return { element: make("div", { class: "pane" }, make("header", {}, choice, about), text), begin };
}

function passes() {
  const all = compilation.levels.flatMap(level => level.passes);
  const longest = Math.max(1, ...all.map(pass => pass.micros));
  const body = compilation.levels.filter(level => level.passes.length).flatMap(level => {
    const total = level.passes.reduce((sum, pass) => sum + pass.micros, 0);
    const heading = make("tr", {}, make("th", { colspan: 4 }, level.name), make("th", { class: "number" }, time(total * 1000)));
    return [heading, ...level.passes.map(pass => make("tr", {},
      make("td", { class: "code" }, pass.text,
        pass.remarks.length ? make("details", {}, make("summary", {}, plural(pass.remarks.length, "remark")),
          make("ul", {}, pass.remarks.map(remark => make("li", { class: remark.warning ? "warn" : null }, `${remark.place}: ${remark.message}`)))) : null),
      make("td", { class: "number" }, pass.before === pass.after ? String(pass.after) : `${pass.before} → ${pass.after}`),
      make("td", {}, pass.changed ? "changed" : make("span", { class: "soft" }, "no change")),
      make("td", {}, bar(pass.micros / longest)),
      make("td", { class: "number" }, time(pass.micros * 1000))))];
  });
  $("passes").append(make("h2", {}, "Passes"),
    make("p", { class: "soft" }, "Each run by itself on the whole program, without the cache. Ops are counted before and after."),
    make("table", {}, make("tbody", {}, body)));
}

const COLORS = ["#4c83c3", "#c98b46", "#5d9e74", "#a86fa5", "#c26a63", "#7a86b8", "#9a9a52", "#4f9fa6"];
const color = name => COLORS[[...name].reduce((sum, char) => (sum * 31 + char.codePointAt(0)) >>> 0, 7) % COLORS.length];

function spans(number) {
  const events = timeline.traceEvents.filter(event => event.pid === number && event.ph === "X");
  const rows = timeline.traceEvents.filter(event => event.pid === number && event.name === "thread_name");
  const save = make("button", { onclick: () => {
    const file = URL.createObjectURL(new Blob([JSON.stringify(timeline)], { type: "application/json" }));
    make("a", { href: file, download: `${program.name}.trace.json` }).click();
    URL.revokeObjectURL(file);
  } }, "Save as Chrome trace");
  const drawn = rows.flatMap(row => {
    const mine = events.filter(event => event.tid === row.tid);
    if (!mine.length) return [];
    const end = Math.max(...mine.map(event => event.ts + event.dur)), start = Math.min(...mine.map(event => event.ts));
    const width = 1000, depth = event => mine.some(other => other !== event && other.ts <= event.ts && other.ts + other.dur >= event.ts + event.dur
      && (other.dur > event.dur || mine.indexOf(other) < mine.indexOf(event))) ? 1 : 0;
    const x = at => (at - start) / Math.max(end - start, 1e-9) * width;
    const deep = mine.map(depth);
    const height = 22 * (1 + Math.max(...deep));
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", style: `height:${height}px` });
    mine.forEach((event, k) => {
      const rect = make("rect", { class: "span", x: x(event.ts), y: 22 * deep[k], width: Math.max(x(event.ts + event.dur) - x(event.ts), 0.4), height: 20, fill: color(event.name) });
      svg.append(tip(rect, `${event.name}\n${time(event.dur * 1000)}, from ${time(event.ts * 1000)} on`));
    });
    return [make("p", { style: "margin:8px 0 2px" }, row.args.name, make("span", { class: "soft" }, `, ${time((end - start) * 1000)}`)), svg];
  });
  $("timeline").append(make("h2", {}, "Timeline"), save, ...drawn);
}

function memory() {
  const { memory: buffers, steps, arena_bytes: arena } = compilation;
  if (!buffers.length) return;
  const width = 1000, height = 260, count = Math.max(steps.length, 1);
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", style: `height:${height}px` });
  for (const buffer of buffers) {
    const x = buffer.first / count * width, tall = buffer.bytes / arena * height;
    const rect = make("rect", { class: "span", x, y: height - tall - buffer.offset / arena * height, width: (buffer.last - buffer.first + 1) / count * width, height: tall, fill: color(buffer.label) });
    svg.append(tip(rect, `${bytes(buffer.bytes)} at ${buffer.offset}\nmade by step ${buffer.first} (${buffer.label}), needed until step ${buffer.last} (${steps[buffer.last] ?? ""})`));
  }
  const asked = buffers.reduce((sum, buffer) => sum + buffer.bytes, 0);
  $("memory").append(make("h2", {}, "Memory"),
    make("p", { class: "soft" }, `The arena of a call from its beginning (left) to its end: ${plural(buffers.length, "buffer")} of ${bytes(asked)} in ${bytes(arena)}.`), svg);
}

function cache() {
  const { cached } = compilation;
  if (!cached.length) return;
  const hits = cached.filter(record => record.how !== "computed").length;
  $("cache").append(make("h2", {}, "Cache"),
    make("p", { class: "soft" }, `${hits} of ${cached.length} results were known.`),
    make("table", {}, make("tbody", {}, cached.map(record => make("tr", {},
      make("td", { class: record.how === "computed" ? "" : "ok" }, record.how), make("td", { class: "code" }, record.function),
      make("td", { class: "code" }, record.passes), make("td", {}, record.cause))))));
}

function guards() {
  if (!program.guards.length) return;
  $("guards").append(make("h2", {}, "Checked before each call"), make("ul", {}, program.guards.map(guard => make("li", {}, make("code", {}, guard)))));
}

const chooser = $("program");
report.programs.forEach((one, k) => chooser.append(make("option", { value: k }, `${k + 1}: ${one.name}`)));
chooser.addEventListener("change", () => show(Number(chooser.value)));
$("choice").hidden = report.programs.length < 2;
if (report.programs.length) show(0);
else $("summary").append(make("p", {}, "No program was compiled."), ...report.notes.map(note => make("p", { class: "warn" }, note)));
