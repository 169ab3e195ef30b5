// What a strict parser, not ours, reads in a block of notifications: which elements, each with its attributes and its text.
import { SaxesParser } from 'saxes';

interface Read {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The first block in the text; throws where it is not well-formed. */
export function readElements(text: string): Read[] {
  const [block] = /<notifications [^]*?\n<\/notifications>/.exec(text) ?? [];
  if (block === undefined) throw new Error(`there is no block in ${text}`);
  const read: { name: string; attributes: Record<string, string>; text: string }[] = [];
  const open: (typeof read)[number][] = [];
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    const element = { name, attributes: { ...attributes }, text: '' };
    read.push(element);
    open.push(element);
  });
  const add = (more: string) => {
    const last = open.at(-1);
    if (last !== undefined) last.text += more;
  };
  parser.on('text', add);
  parser.on('cdata', add);
  parser.on('closetag', () => void open.pop());
  parser.write(block).close();
  return read;
}
