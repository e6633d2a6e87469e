// Small things that a page needs beside htmx; nothing is kept in the browser.

const wordsOf = (name) => document.body.dataset[name];

// Progress of runs: server-sent events move the bar, and their end loads what came of it.
function watch(part) {
  if (part.dataset.watched) return;
  part.dataset.watched = "yes";
  const source = new EventSource(part.dataset.events);
  source.addEventListener("progress", (event) => {
    if (!part.isConnected) return source.close();
    const { step, fraction } = JSON.parse(event.data);
    const words = part.querySelector("[data-step]");
    const bar = part.querySelector("progress");
    if (step && words && words.textContent !== step) words.textContent = step;
    if (bar) fraction === null ? bar.removeAttribute("value") : (bar.value = fraction);
  });
  source.addEventListener("over", () => {
    source.close();
    htmx.trigger(part, "over");
  });
}

// A button that copies a command, and says so for a moment.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "✓";
  } catch {
    button.textContent = "–";
  }
  setTimeout(() => (button.textContent = before), 1500);
});

// A list that is filtered as somebody types: data-filter names the list, data-find what to look in.
function filter(field) {
  const list = document.getElementById(field.dataset.filter);
  if (!list) return;
  const fields = document.querySelectorAll(`[data-filter="${field.dataset.filter}"]`);
  let shown = 0;
  for (const item of list.children) {
    const fits = [...fields].every((each) => {
      if (each.type === "checkbox") return !each.checked || item.dataset[each.dataset.key] === "yes";
      if (each.tagName === "SELECT") return !each.value || item.dataset[each.dataset.key] === each.value;
      return (item.dataset.find || "").includes(each.value.trim().toLowerCase());
    });
    item.hidden = !fits;
    if (fits) shown += 1;
  }
  const told = document.getElementById(`${field.dataset.filter}-shown`);
  if (told) told.textContent = told.dataset.words.replace("{n}", shown);
}

document.addEventListener("input", (event) => {
  if (event.target.matches?.("[data-filter]")) filter(event.target);
});

// A form that asks before it leaves is a dialog; whatever arrives is looked through for parts.
function prepare(root) {
  if (root.matches?.("[data-events]")) watch(root);
  for (const part of root.querySelectorAll?.("[data-events]") ?? []) watch(part);
  for (const field of root.querySelectorAll?.("[data-filter]") ?? []) filter(field);
}

document.addEventListener("htmx:afterSettle", (event) => prepare(event.target));
document.addEventListener("htmx:load", (event) => prepare(event.detail.elt));
prepare(document.body);
