// Marks texts in the page without changing its elements.

const MOST_MARKED = 200;

/** Where the texts stand in the element, also across its parts; capitals do not matter. */
export function rangesOf(element: HTMLElement, wanted: readonly string[]): Range[] {
  const nodes: { readonly node: Node; readonly from: number }[] = [];
  const texts: string[] = [];
  let length = 0;
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = node.textContent ?? '';
    nodes.push({ node, from: length });
    texts.push(text.toLowerCase());
    length += text.length;
  }
  const all = texts.join('');
  const place = (at: number) => nodes.findLast(({ from }) => from <= at);
  const ranges: Range[] = [];
  for (const text of new Set(wanted.map((one) => one.toLowerCase()))) {
    if (text === '') continue;
    for (
      let at = all.indexOf(text);
      at !== -1 && ranges.length < MOST_MARKED;
      at = all.indexOf(text, at + text.length)
    ) {
      const [first, last] = [place(at), place(at + text.length - 1)];
      if (first === undefined || last === undefined) continue;
      const range = new Range();
      range.setStart(first.node, at - first.from);
      range.setEnd(last.node, at + text.length - last.from);
      ranges.push(range);
    }
  }
  return ranges;
}
