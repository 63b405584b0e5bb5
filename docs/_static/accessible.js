// What scrolls sideways can be reached by keyboard; the two sidebars have names.
const boxes = ".equation, .table-wrapper, .highlight pre";
const reach = () =>
  document.querySelectorAll(boxes).forEach((box) => {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  });
window.addEventListener("load", () => {
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "all pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "this page");
  reach();
});
window.addEventListener("resize", reach);
