"use strict";
const field = document.getElementById("filter");
const findings = [...document.querySelectorAll(".finding")];
const narrow = (words) => {
  for (const one of findings) one.hidden = !one.textContent.toLowerCase().includes(words.toLowerCase());
};
if (field) {
  field.value = new URLSearchParams(location.search).get("filter") || "";
  narrow(field.value);
  field.addEventListener("input", () => {
    narrow(field.value);
    const query = field.value ? "?filter=" + encodeURIComponent(field.value) : location.pathname;
    try { history.replaceState(null, "", query + location.hash); } catch { /* Some browsers forbid it for files. */ }
  });
}
const open = () => {
  const one = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (one && one.tagName === "DETAILS") one.open = true;
};
addEventListener("hashchange", open);
open();
for (const button of document.querySelectorAll(".copy")) {
  button.addEventListener("click", async () => {
    const text = button.parentElement.querySelector("pre").textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(button.parentElement.querySelector("pre"));
      button.textContent = "Selected: copy it";
    }
  });
}
