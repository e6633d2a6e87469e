// Marking parts of the map of boxes, and closing branches of the tree. The server counts and draws.

const surface = document.getElementById("brushing");

if (surface) {
  const numbers = (name) => surface.dataset[name].split(" ").map(Number);
  const x = numbers("x"), y = numbers("y");
  const rect = document.getElementById("brush");
  const low = Math.min(...y), high = Math.max(...y);
  let from = null, to = null, timer = null, shown = "";

  const cellAt = (borders, at) => {
    const rising = borders[0] < borders.at(-1);
    for (let cell = 0; cell < borders.length - 1; cell++) {
      const [a, b] = rising ? [borders[cell], borders[cell + 1]] : [borders[cell + 1], borders[cell]];
      if (at < b || (rising ? cell === borders.length - 2 : false)) if (at >= a || cell === 0) return cell;
    }
    return rising ? borders.length - 2 : at >= borders[0] ? 0 : borders.length - 2;
  };
  const spot = (event) => {
    const box = surface.getBoundingClientRect();
    const across = ((event.clientX - box.left) / box.width) * (x.at(-1) - x[0]);
    const down = low + ((event.clientY - box.top) / box.height) * (high - low);
    return [cellAt(x, Math.min(Math.max(across, x[0]), x.at(-1))), cellAt(y, Math.min(Math.max(down, low), high))];
  };
  const draw = () => {
    const [l, r] = [Math.min(from[0], to[0]), Math.max(from[0], to[0])];
    const [t, b] = [Math.min(from[1], to[1]), Math.max(from[1], to[1])];
    const ends = [y[t], y[b + 1]];
    rect.setAttribute("x", x[l]); rect.setAttribute("width", x[r + 1] - x[l]);
    rect.setAttribute("y", Math.min(...ends)); rect.setAttribute("height", Math.abs(ends[1] - ends[0]));
    clearTimeout(timer);
    timer = setTimeout(() => {
      const address = `${surface.dataset.href}&left=${l}&right=${r}&top=${t}&bottom=${b}`;
      if (address !== shown) htmx.ajax("GET", address, { target: "#brushed", swap: "innerHTML" });
      shown = address;
    }, 60);
  };
  surface.addEventListener("pointerdown", (event) => {
    surface.setPointerCapture(event.pointerId);
    from = to = spot(event);
    draw();
  });
  surface.addEventListener("pointermove", (event) => {
    if (!surface.hasPointerCapture?.(event.pointerId)) return;
    to = spot(event);
    draw();
  });
  const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  surface.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    const upwards = y[0] > y.at(-1) ? -1 : 1; // numbers rise upwards
    const within = (at, most) => Math.min(Math.max(at, 0), most);
    if (!to) from = to = [0, upwards < 0 ? y.length - 2 : 0];
    else to = [within(to[0] + step[0], x.length - 2), within(to[1] + step[1] * upwards, y.length - 2)];
    if (!event.shiftKey) from = to;
    draw();
  });
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button.twist[data-close]");
  if (!button) return;
  const open = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!open));
  button.closest("li").querySelector(":scope > ul").hidden = open;
});
document.addEventListener("change", (event) => {
  if (event.target.closest("form[data-live]")) event.target.form.requestSubmit();
});
