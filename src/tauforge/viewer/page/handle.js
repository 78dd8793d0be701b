// The handle is drawn in front of all parts, so the mouse finds it in front of them, too: also where it is inside one.
(() => {
  const AGAIN = 100; // ms: viser's page makes its scene when it is connected
  const HANDLE = "/gizmo";

  function isOfHandle(object) {
    const handle = window.__viserMutable.nodeRefFromName[HANDLE];
    for (let one = handle && object; one; one = one.parent) if (one === handle) return true;
    return false;
  }

  // What the mouse hits, the nearest first: react-three-fiber asks this function for their order.
  const handleFirst = (hits) => [
    ...hits.filter(({ object }) => isOfHandle(object)),
    ...hits.filter(({ object }) => !isOfHandle(object)),
  ];

  setInterval(() => {
    const state = window.__viserMutable?.nodeRefFromName[""]?.__r3f?.root?.getState();
    if (state && state.events.filter !== handleFirst) state.setEvents({ filter: handleFirst });
  }, AGAIN);
})();
