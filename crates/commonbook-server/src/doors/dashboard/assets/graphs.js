// A graph that is wider than its frame begins with its middle node in sight, and a time line with its newest dots.
export function centreGraphs(root) {
  for (const line of root.querySelectorAll(".time-line")) line.scrollLeft = line.scrollWidth;
  for (const middle of root.querySelectorAll(".graph .middle")) {
    const graph = middle.closest(".graph");
    const [frame, node] = [graph.getBoundingClientRect(), middle.getBoundingClientRect()];
    graph.scrollLeft += node.left + node.width / 2 - frame.left - frame.width / 2;
    graph.scrollTop += node.top + node.height / 2 - frame.top - frame.height / 2;
  }
}
