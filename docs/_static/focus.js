// What scrolls sideways can be reached by keyboard.
const boxes = ".equation, .table-wrapper, .highlight pre";
const reach = () =>
  document.querySelectorAll(boxes).forEach((box) => {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  });
window.addEventListener("load", reach);
window.addEventListener("resize", reach);
