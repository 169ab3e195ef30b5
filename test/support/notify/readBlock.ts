// What a strict parser, not ours, reads in a block of notifications: which elements, each with its attributes and its text.
import { SaxesParser } from 'saxes';

interface ReadElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  text: string;
  readonly children: ReadElement[];
}

/** Throws where it is not well-formed, has more than one element at the top, or anything but elements and text. */
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

/** Several elements in one that has the key, or one that has it itself. No text can contain what closes it. */
const BLOCK =
  /<notifications [^>]*key="[^"]+">\n[^]*?\n<\/notifications>|<(notification|user_message) [^>]*key="[^"]+">[^]*?\]\]><\/\1>/;

/** Every element of the first block in the text, in its order. */
export function readElements(text: string): ReadElement[] {
  const [block] = BLOCK.exec(text) ?? [];
  if (block === undefined) throw new Error(`there is no block in ${text}`);
  return allOf(readXml(block));
}

function allOf(element: ReadElement): ReadElement[] {
  return [element, ...element.children.flatMap(allOf)];
}
