// Reads a notification block with a strict third-party XML parser.
import { SaxesParser } from 'saxes';

interface ReadElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  text: string;
  readonly children: ReadElement[];
}

/** Throws unless the text is well-formed with one root element and contains only elements and text. */
export function readXml(xml: string): ReadElement {
  const root: ReadElement = { name: '', attributes: {}, text: '', children: [] };
  const open = [root];
  const parser = new SaxesParser({ xmlns: false, fragment: false });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    const element: ReadElement = { name, attributes: { ...attributes }, text: '', children: [] };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  const add = (more: string) => {
    const last = open.at(-1);
    if (last !== undefined) last.text += more;
  };
  parser.on('text', add);
  parser.on('cdata', add);
  for (const event of ['comment', 'doctype', 'processinginstruction'] as const) {
    parser.on(event, () => {
      throw new Error(`a ${event} was read`);
    });
  }
  parser.on('closetag', () => void open.pop());
  parser.write(xml).close();
  const [only] = root.children;
  if (only === undefined || root.children.length !== 1) throw new Error('not one element');
  return only;
}

/** A wrapper element with the key, or a single element with the key. No text can contain the closing tag. */
const BLOCK =
  /<notifications [^>]*key="[^"]+">\n[^]*?\n<\/notifications>|<(notification|user_message) [^>]*key="[^"]+">[^]*?\]\]><\/\1>/;

/** Every element of the first block in the text, in order. */
export function readElements(text: string): ReadElement[] {
  const [block] = BLOCK.exec(text) ?? [];
  if (block === undefined) throw new Error(`no block in ${text}`);
  return allOf(readXml(block));
}

function allOf(element: ReadElement): ReadElement[] {
  return [element, ...element.children.flatMap(allOf)];
}
