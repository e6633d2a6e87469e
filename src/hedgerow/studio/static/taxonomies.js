// The tree editor: opening groups, marking, dragging and keys. The server edits and draws.

const tree = () => document.getElementById("tree");
const area = () => document.getElementById("tree-area");
let focused = null; // the label to come back to when the tree was drawn anew
let dragged = [];

const rowOf = (label) =>
  [...(tree()?.querySelectorAll("[data-label]") ?? [])].find((row) => row.dataset.label === label);
const boxOf = (row) => row?.querySelector('input[name="label"]');
const boxes = () => [...tree().querySelectorAll('input[name="label"]')];
const labelOf = (element) => element.closest("[data-label]")?.dataset.label;
const marked = () => [...new Set([...area().querySelectorAll('input[name="label"]:checked')].map((box) => box.value))];

function count() {
  const status = document.getElementById("chosen");
  if (!status) return;
  const labels = marked();
  const words = labels.length === 0 ? status.dataset.none : labels.length === 1 ? status.dataset.one : status.dataset.many;
  status.textContent = words.replace("{label}", labels[0] ?? "").replace("{n}", labels.length);
}

async function send(values) {
  const form = document.getElementById("tree-form");
  const data = { file: form.elements.file.value, version: form.elements.version.value };
  const opened = [...form.querySelectorAll('input[name="open"]')].map((field) => field.value);
  await htmx.ajax("POST", form.getAttribute("hx-post"), {
    source: tree(), target: "#tree-area", swap: "outerHTML", values: { ...data, open: opened, ...values },
  });
}

function toggle(button) {
  const row = button.closest("li");
  if (button.getAttribute("aria-expanded") === "true") {
    row.querySelector(":scope > ul")?.remove();
    row.querySelector(':scope > input[name="open"]')?.remove();
    button.setAttribute("aria-expanded", "false");
    count();
    return;
  }
  const box = boxOf(row);
  const wasMarked = box.checked;
  focused = row.dataset.label;
  htmx.ajax("GET", button.dataset.href, { source: button, target: row, swap: "outerHTML" }).then(() => {
    if (wasMarked) boxOf(rowOf(focused)).checked = true;
    boxOf(rowOf(focused))?.focus();
  });
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button.twist");
  if (button) toggle(button);
});
document.addEventListener("change", (event) => {
  if (event.target.matches('input[name="label"]')) count();
});
document.addEventListener("focusin", (event) => {
  if (event.target.closest("#tree")) focused = labelOf(event.target) ?? focused;
});

// Keys: arrows select and open nodes, with Alt they move them; letters focus the fields beside the tree.
function walk(box, by) {
  const all = boxes();
  all[all.indexOf(box) + by]?.focus();
}
function sideways(box, open) {
  const row = box.closest("li");
  const button = row?.querySelector(":scope > .node > button.twist");
  const isOpen = button?.getAttribute("aria-expanded") === "true";
  if (button && isOpen !== open) toggle(button);
  else if (!open) boxOf(row?.parentElement.closest("[data-label]"))?.focus();
  else walk(box, 1);
}
const DIRECTIONS = { ArrowUp: "up", ArrowDown: "down", ArrowRight: "in", ArrowLeft: "out" };
const FIELDS = { g: "name", m: "to", F2: "name" };

document.addEventListener("keydown", (event) => {
  if (!area()) return;
  const typing = event.target.matches('textarea, select, input:not([type="checkbox"], [type="radio"])');
  if ((event.ctrlKey || event.metaKey) && !typing && ["z", "y"].includes(event.key.toLowerCase())) {
    const redo = event.key.toLowerCase() === "y" || event.shiftKey;
    const button = document.getElementById(redo ? "redo" : "undo");
    if (!button.disabled) button.click();
    event.preventDefault();
    return;
  }
  const box = event.target.closest?.("#tree") && event.target.matches('input[name="label"]') ? event.target : null;
  if (!box || event.ctrlKey || event.metaKey) return;
  const direction = DIRECTIONS[event.key];
  if (direction && event.altKey) send({ do: "step", moved: box.value, direction });
  else if (event.key === "ArrowUp") walk(box, -1);
  else if (event.key === "ArrowDown") walk(box, 1);
  else if (event.key === "ArrowRight") sideways(box, true);
  else if (event.key === "ArrowLeft") sideways(box, false);
  else if (FIELDS[event.key] && !event.altKey) {
    if (!marked().length) { box.checked = true; count(); }
    const field = document.getElementById(FIELDS[event.key]);
    if (event.key === "F2") field.value = box.value;
    field.focus();
  } else return;
  event.preventDefault();
});

// Dragging onto the middle of a group moves a node into it, onto an edge moves it beside.
function zone(node, event) {
  const { top, height } = node.getBoundingClientRect();
  const part = (event.clientY - top) / height;
  const row = node.closest("[data-label]");
  if (node.dataset.root) return "into";
  if (row.dataset.group) return part < 0.25 ? "before" : part > 0.75 ? "after" : "into";
  return part < 0.5 ? "before" : "after";
}
function clear() {
  for (const node of document.querySelectorAll(".node")) node.classList.remove("over-into", "over-before", "over-after", "dragged");
}
document.addEventListener("dragstart", (event) => {
  const node = event.target.closest?.(".node");
  if (!node || !tree()?.contains(node) || node.dataset.root) return;
  const own = labelOf(node);
  dragged = boxOf(node).checked ? marked() : [own];
  node.classList.add("dragged");
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setData("text/plain", dragged.join("\n"));
});
document.addEventListener("dragover", (event) => {
  const node = event.target.closest?.("#tree .node");
  if (!node || !dragged.length) return;
  event.preventDefault();
  const wanted = `over-${zone(node, event)}`;
  if (!node.classList.contains(wanted)) { clear(); node.classList.add(wanted); }
});
document.addEventListener("drop", (event) => {
  const node = event.target.closest?.("#tree .node");
  if (!node || !dragged.length) return;
  event.preventDefault();
  const where = zone(node, event);
  const row = node.closest("[data-label]");
  const around = row.parentElement.closest("[data-label]")?.dataset.label ?? tree().querySelector("[data-root]").dataset.label;
  const next = row.nextElementSibling?.dataset?.label ?? "";
  const values = { do: "move", label: dragged };
  if (where === "into") values.to = row.dataset.label;
  else { values.to = around; values.before = where === "before" ? row.dataset.label : next; }
  dragged = [];
  send(values);
});
document.addEventListener("dragend", () => { dragged = []; clear(); });

document.addEventListener("htmx:afterSettle", () => {
  count();
  if (focused && document.activeElement === document.body) boxOf(rowOf(focused))?.focus();
});
count();
