// Finds every regular expression of the product and generates texts on which such an expression may be slow.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type AST, RegExpParser } from '@eslint-community/regexpp';
import ts from 'typescript';
import { fill } from './measure.ts';

export interface FoundRegExp {
  readonly place: string;
  readonly pattern: RegExp;
}

export function regExpsIn(root: string): FoundRegExp[] {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.tsx?$/.test(file),
  );
  return files.flatMap((file) => {
    const path = join(root, 'src', file);
    const parsed = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
    const found: FoundRegExp[] = [];
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const slash = node.text.lastIndexOf('/');
        const line = parsed.getLineAndCharacterOfPosition(node.getStart()).line + 1;
        const pattern = new RegExp(node.text.slice(1, slash), node.text.slice(slash + 1));
        found.push({ place: `${relative(root, path)}:${line} ${node.text}`, pattern });
      }
      ts.forEachChild(node, visit);
    };
    visit(parsed);
    return found;
  });
}

/**
 * Each attack makes a text of a given length by repeating the body of a quantifier, with or without the text before it.
 */
export function attacksOn(pattern: RegExp): ((size: number) => string)[] {
  const parser = new RegExpParser();
  const { unicode, unicodeSets } = pattern;
  const parsed = parser.parsePattern(pattern.source, 0, pattern.source.length, { unicode, unicodeSets });
  const samples = new Samples(pattern.flags);
  const whole = parsed.alternatives.map((one) => samples.of(one));
  const pairs = quantifiersIn(parsed).map((one) => ({ before: samples.before(one), pump: samples.of(one.element) }));
  const attacks: ((size: number) => string)[] = [];
  for (const text of whole)
    if (text !== '')
      attacks.push(
        (size) => fill(text, size),
        (size) => fill(text.slice(0, -1) || text, size),
      );
  for (const { before, pump } of pairs) {
    if (pump === '') continue;
    for (const end of ['', '\0', '\n', 'x', '!']) {
      attacks.push(
        (size) => before + fill(pump, size) + end,
        (size) => fill(pump, size) + end,
      );
    }
    attacks.push(
      (size) => fill(before + pump, size),
      (size) => fill(before + pump + pump, size),
    );
    // Half of the text before the quantifier, half repetitions.
    attacks.push((size) => fill(before === '' ? pump : before, size / 2) + fill(pump, size / 2));
  }
  return attacks;
}

function quantifiersIn(node: AST.Node): AST.Quantifier[] {
  const own = node.type === 'Quantifier' && node.max === Number.POSITIVE_INFINITY ? [node] : [];
  return [...own, ...childrenOf(node).flatMap(quantifiersIn)];
}

function childrenOf(node: AST.Node): readonly AST.Node[] {
  if ('alternatives' in node && node.type !== 'ClassStringDisjunction') return node.alternatives;
  if (node.type === 'Alternative') return node.elements;
  return node.type === 'Quantifier' ? [node.element] : [];
}

const CANDIDATES = Array.from(
  ' a0A_-./\\"\'`<>()[]{}:;,@#*=+!?|&%$~^\n\r\t\u001b\u0007\b\u009bäß‘“…\u2010\u00a0\u{1f600}',
);

/** Texts that parts of a pattern match, for simple patterns. */
class Samples {
  readonly #flags: string;

  constructor(flags: string) {
    this.#flags = flags.replaceAll(/[gy]/g, '');
  }

  of(node: AST.Node): string {
    switch (node.type) {
      case 'Alternative':
        return node.elements.map((element) => this.of(element)).join('');
      case 'Group':
      case 'CapturingGroup':
        return this.of(node.alternatives[0] as AST.Alternative);
      case 'Quantifier':
        return this.of(node.element).repeat(Math.min(Math.max(1, node.min), 50));
      case 'Character':
        return String.fromCodePoint(node.value);
      case 'CharacterClass':
      case 'CharacterSet':
      case 'ExpressionCharacterClass':
        return this.#oneOf(node.raw);
      default:
        return '';
    }
  }

  /** A text that matches everything before this node. */
  before(node: AST.Node): string {
    const { parent } = node;
    if (parent === null || parent.type === 'Pattern') return '';
    if (parent.type !== 'Alternative') return this.before(parent);
    const earlier = parent.elements.slice(
      0,
      parent.elements.findIndex((element) => element === node),
    );
    return this.before(parent) + earlier.map((element) => this.of(element)).join('');
  }

  #oneOf(raw: string): string {
    const pattern = new RegExp(`^${raw}$`, this.#flags);
    return CANDIDATES.find((one) => pattern.test(one)) ?? '';
  }
}
