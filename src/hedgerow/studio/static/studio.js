// Behaviour beyond htmx. Nothing is stored in the browser.

// Progress of runs: server-sent events update the bar; when they end, the result is loaded.
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

// A button that copies a command and confirms it for a moment.
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

// A list that is filtered while typing: data-filter names the list, data-find the searched text.
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
  const count = document.getElementById(`${field.dataset.filter}-shown`);
  if (count) count.textContent = count.dataset.words.replace("{n}", shown);
}

document.addEventListener("input", (event) => {
  if (event.target.matches?.("[data-filter]")) filter(event.target);
});

// A choice (data-switch) that shows only the fields of the chosen value (data-for) in its form.
function turn(choice) {
  if (choice.type === "radio" && !choice.checked) return;
  const form = choice.closest("[data-form]");
  for (const part of form?.querySelectorAll("[data-for]") ?? []) {
    part.hidden = !part.dataset.for.split(" ").includes(choice.value);
  }
}

document.addEventListener("change", (event) => {
  const field = event.target;
  if (field.matches?.("[data-switch]")) turn(field);
  if (field.matches?.("[data-choose]")) {
    for (const item of document.getElementById(field.dataset.choose).children) {
      if (!item.hidden) item.querySelector('input[type="checkbox"]').checked = field.checked;
    }
  }
});

// Enter in a field of a column saves that column and submits no other form.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.matches?.("[data-form] input, #search")) return;
  event.preventDefault();
  event.target.closest("[data-form]")?.querySelector("button.main")?.click();
});

// A slider over named stops sets a field; so may a part that is loaded.
function give(id, value) {
  const field = document.getElementById(id);
  if (!field || field.value === value) return;
  field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

document.addEventListener("input", (event) => {
  const slider = event.target;
  if (!slider.matches?.("[data-stops]")) return;
  const value = slider.dataset.stops.split(" ")[slider.value];
  slider.setAttribute("aria-valuetext", value);
  give(slider.dataset.sets, value);
});

// Mark the glossary terms that occur on the page.
function markWords() {
  const text = document.querySelector("main").innerText.toLowerCase();
  for (const line of document.querySelectorAll("#words-list [data-word]")) {
    const word = line.dataset.word.replace(/[^\p{L}\p{N} -]/gu, "").trim();
    line.dataset.here = new RegExp(`(^|[^\\p{L}])${word}(s|es)?([^\\p{L}]|$)`, "u").test(text) ? "yes" : "no";
  }
}

// Prepare the parts of a page, and of everything that is loaded later.
function prepare(root) {
  if (root.matches?.("[data-events]")) watch(root);
  for (const part of root.querySelectorAll?.("[data-events]") ?? []) watch(part);
  for (const choice of root.querySelectorAll?.("[data-switch]") ?? []) turn(choice);
  for (const part of root.querySelectorAll?.("[data-set]") ?? []) give(part.dataset.set, part.dataset.value);
  if (root.id === "words") markWords();
  const lists = new Map([...document.querySelectorAll("[data-filter]")].map((each) => [each.dataset.filter, each]));
  for (const field of lists.values()) filter(field);
}

document.addEventListener("htmx:afterSettle", (event) => prepare(event.target));
document.addEventListener("htmx:load", (event) => prepare(event.detail.elt));
prepare(document.body);

// On a narrow screen, scroll the list of pages to the current one.
const here = document.querySelector(".steps [aria-current]");
const pages = here?.closest("nav");
if (pages && pages.scrollWidth > pages.clientWidth) pages.scrollLeft = here.offsetLeft - 60;
