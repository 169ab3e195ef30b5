// Where a code block of an answer is applied in a file.
import { describe, expect, it } from 'vitest';
import { type DeclaredSymbol, placeCode } from '../../../../src/core/files/placeCode.ts';

const CART = `/** A cart of items. */
export function createCart() {
  return { items: [] };
}

export function addItem(cart, item) {
  cart.items.push(item);
  return cart;
}

export function removeItem(cart, name) {
  cart.items = cart.items.filter((item) => item.name !== name);
  return cart;
}

export function total(cart) {
  return cart.items.reduce((sum, item) => sum + item.price, 0);
}
`;
const symbol = (name: string, firstLine: number, lastLine: number, members: DeclaredSymbol[] = []): DeclaredSymbol => ({
  name,
  firstLine,
  lastLine,
  members,
});
const CART_SYMBOLS = [
  symbol('createCart', 1, 3),
  symbol('addItem', 5, 8),
  symbol('removeItem', 10, 13),
  symbol('total', 15, 17),
];

/** The file after the block was applied; the kind of place if there are no lines. */
function applied(text: string, code: string, symbols: readonly DeclaredSymbol[] = []): string {
  const place = placeCode(text, code, symbols);
  if (typeof place === 'string') return place;
  const lines = text.split('\n');
  for (const { firstLine, endLine, text: added } of place.toReversed()) {
    lines.splice(firstLine, endLine - firstLine, ...added.split('\n'));
  }
  return lines.join('\n');
}

const TOTAL = `export function total(cart) {
  return cart.items.reduce((sum, item) => sum + item.price * (item.count ?? 1), 0);
}`;

describe('the place of a code block', () => {
  it('one function replaces the function of that name and nothing else', () => {
    const expected = CART.replace('item.price, 0', 'item.price * (item.count ?? 1), 0');
    expect(applied(CART, TOTAL, CART_SYMBOLS)).toBe(expected);
    // Without symbols the similar lines are found.
    expect(applied(CART, TOTAL)).toBe(expected);
  });

  it('two functions that are apart replace these two and keep what is between them', () => {
    const create = '/** A new cart. */\nexport const createCart = () => ({ items: [] });';
    const expected = CART.replace(/^[^]*?\n}\n/, `${create}\n`).replace(/export function total[^]*?\n}/, TOTAL);
    expect(applied(CART, `${create}\n\n// ... other functions stay the same\n\n${TOTAL}`, CART_SYMBOLS)).toBe(expected);
  });

  it('a new import goes below the imports, and a new function stays beside the known one', () => {
    const file = "import { a } from './a.js';\n\nexport function run() {\n  a();\n}\n";
    const block =
      "import { a } from './a.js';\nimport { b } from './b.js';\n\nfunction help() {}\n\nexport function run() {\n  help();\n}";
    const expected =
      "import { a } from './a.js';\nimport { b } from './b.js';\n\nfunction help() {}\n\nexport function run() {\n  help();\n}\n";
    const long = Array.from({ length: 9 }, (_, line) => `// ${line}`).join('\n');
    expect(applied(file + long, block, [symbol('run', 2, 4)])).toBe(expected + long);
  });

  const shop =
    'class Shop {\n    open() {\n        return 1;\n    }\n\n    close() {\n        return 2;\n    }\n\n    sell() {\n        return 3;\n    }\n}\n';
  const shopSymbols = [symbol('Shop', 0, 12, [symbol('open', 1, 3), symbol('close', 5, 7), symbol('sell', 9, 11)])];

  it('a method without its class gets the indentation of the file', () => {
    expect(applied(shop, 'close() {\n    return 20;\n}', shopSymbols)).toBe(shop.replace('return 2;', 'return 20;'));
  });

  it('an excerpt of a class replaces the named method and keeps the others', () => {
    const excerpt = 'class Shop {\n    // ... existing code ...\n    close() {\n        return 20;\n    }\n}';
    expect(applied(shop, excerpt, shopSymbols)).toBe(shop.replace('return 2;', 'return 20;'));
  });

  it('of two methods with one name the more similar one is replaced', () => {
    const file =
      'class A:\n    def run(self):\n        return "tea"\n\nclass B:\n    def run(self):\n        return "milk"\n';
    const symbols = [symbol('A', 0, 2, [symbol('run', 1, 2)]), symbol('B', 4, 6, [symbol('run', 5, 6)])];
    const block = '    def run(self):\n        log()\n        return "milk"';
    expect(applied(file, block, symbols)).toBe(
      file.replace('        return "milk"', '        log()\n        return "milk"'),
    );
  });

  it('a call of a function is not its declaration', () => {
    expect(applied(CART, 'console.log(total(addItem(createCart(), tea)));', CART_SYMBOLS)).toBe('unknown');
  });

  it('a block with most lines of the file and its first line is the whole file', () => {
    expect(applied(CART, CART.replace('name !== name', 'name != name'), CART_SYMBOLS)).toBe('whole_file');
    expect(applied('\n', TOTAL)).toBe('whole_file');
  });

  it('a block that leaves out lines, or that resembles nothing, has no place', () => {
    expect(
      applied(CART, 'export function total(cart) {\n  check(cart);\n  // ... rest unchanged ...\n}', CART_SYMBOLS),
    ).toBe('unknown');
    expect(applied(CART, 'SELECT * FROM shops;', CART_SYMBOLS)).toBe('unknown');
  });

  it('takes time in proportion to the lines of a large file', () => {
    const large = Array.from({ length: 40_000 }, (_, index) => `function f${index}() {}`);
    const symbols = large.map((_, index) => symbol(`f${index}`, index, index));
    const block = 'function f39000() {\n  return 1;\n}';
    large[39_000] = block;
    const before = large.with(39_000, 'function f39000() {}').join('\n');
    expect(applied(before, block, symbols)).toBe(large.join('\n'));
  });
});
