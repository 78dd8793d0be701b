// In a narrow window viser's panel lies over the lower half of the scene. It begins folded, so that the robot is seen.
(() => {
  const AGAIN = 100; // ms: the panel comes when the page is connected
  const PANEL = '[style*="position: fixed"][style*="bottom: 0"]';
  const TITLE = '[style*="cursor: pointer"][style*="height: 3.5em"]';

  const waiting = setInterval(() => {
    const own = document.querySelector("[data-parts]");
    if (!own) return;
    clearInterval(waiting);
    own.closest(PANEL)?.querySelector(TITLE)?.click();
  }, AGAIN);
})();
