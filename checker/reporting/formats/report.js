"use strict";
const all = (what) => [...document.querySelectorAll(what)];
const query = () => new URLSearchParams(location.search);
const remember = (name, value) => {
  const kept = query();
  if (value) kept.set(name, value); else kept.delete(name);
  const text = kept.toString();
  try { history.replaceState(null, "", location.pathname + (text ? "?" + text : "") + location.hash); } catch { /* Some browsers forbid it for files. */ }
};
const fill = (one) => {
  const kept = one.querySelector(":scope > template");
  if (kept) kept.replaceWith(kept.content);
};
const texts = (one) => [one.textContent, one.querySelector("template")?.content.textContent].join(" ").toLowerCase();
const narrow = () => {
  const wanted = {};
  for (const field of all("[data-key]")) wanted[field.dataset.key] = field.value;
  const words = (wanted.filter || "").toLowerCase();
  let count = 0;
  const findings = all(".finding");
  for (const one of findings) {
    const fits = (name) => !wanted[name] || one.dataset[name] === wanted[name];
    one.hidden = !(["severity", "check", "standing"].every(fits) && texts(one).includes(words));
    count += one.hidden ? 0 : 1;
  }
  for (const cause of all(".cause")) cause.hidden = !cause.querySelector(".finding:not([hidden])");
  for (const row of all("tr.operation")) row.hidden = Boolean(wanted.outcome) && row.dataset.outcome !== wanted.outcome;
  const told = document.getElementById("count");
  if (told) told.textContent = count + " of " + findings.length + " shown";
};
const reveal = () => {
  const one = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!one) return;
  for (let around = one.closest("details"); around; around = around.parentElement.closest("details")) around.open = true;
  one.scrollIntoView();
};
const paint = () => { document.documentElement.dataset.theme = query().get("theme") || ""; };
const arrange = () => {
  for (const field of all("[data-key]")) field.value = query().get(field.dataset.key) || "";
  narrow();
  paint();
};
document.addEventListener("input", (event) => {
  if (!event.target.dataset || !event.target.dataset.key) return;
  remember(event.target.dataset.key, event.target.value);
  narrow();
});
document.addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.id === "theme") {
    const dark = query().get("theme") ? query().get("theme") === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    remember("theme", dark ? "light" : "dark");
    paint();
  } else if (button.id === "unfold") {
    const shown = all(".cause:not([hidden]), .finding:not([hidden])");
    const open = shown.some((one) => !one.open);
    for (const one of shown) one.open = open;
    button.textContent = open ? "Close all" : "Open all";
  } else if (button.classList.contains("copy")) {
    const text = button.parentElement.querySelector("pre");
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text);
      button.textContent = "Selected: copy it";
    }
  }
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select")) return;
  const shown = all(".cause > summary, .finding > summary").filter((one) => one.checkVisibility());
  const at = shown.indexOf(document.activeElement);
  if (event.key === "/") { event.preventDefault(); document.getElementById("filter")?.focus(); }
  if (event.key === "j") shown[Math.min(at + 1, shown.length - 1)]?.focus();
  if (event.key === "k") shown[Math.max(at - 1, 0)]?.focus();
});
addEventListener("hashchange", reveal);
document.addEventListener("toggle", (event) => {
  fill(event.target);
  if (event.target.querySelector("[data-key]")) arrange();
}, true);
addEventListener("beforeprint", () => {
  for (const one of all(".cause:not([hidden]), .finding:not([hidden])")) { one.open = true; fill(one); }
});
arrange();
reveal();
