// The values of variables that a script itself assigns, as far as they are certain before it runs.
import { type SimpleCommand, type Word } from './script.ts';

/** With more values than this, a variable counts as unknown. */
const MOST_VALUES = 100;
/** These can change variables, or what a later command does, by rules that are not modelled here. */
const CHANGES_VARIABLES = new Set([
  ...['read', 'mapfile', 'readarray', 'getopts', 'eval', 'source', '.', 'let', 'unset', 'trap', 'alias', 'enable'],
  ...['shopt', 'setopt', 'unsetopt', 'emulate', 'vared', 'zparseopts', 'zstyle', 'zmodload', 'autoload', 'sysread'],
  ...['print', 'getln', 'pushln', 'private', 'zformat', 'zregexparse', 'zselect', 'zstat', 'strftime', 'fc', 'repeat'],
]);
/** These assign `name=value`. With most of their options the variable gets another value than the one that is written. */
const DECLARES = new Set(['export', 'declare', 'local', 'typeset', 'readonly']);
const DECLARATION_OPTIONS = /^-[grx]+$/;
/** These run the builtin that follows them; the last three are of zsh. */
const PREFIXES = new Set(['command', 'builtin', 'noglob', 'nocorrect', '-']);
/** `${name=value}` and `${name:=value}`. */
const ASSIGNING_EXPANSION = /^\$\{[^}]*=/;

export class Variables {
  readonly #values = new Map<string, readonly string[] | undefined>();
  /** Variables that certainly have one of their values. */
  readonly #assigned = new Set<string>();
  /** Some command may assign any variable. */
  readonly #open: boolean;

  constructor(commands: readonly SimpleCommand[]) {
    this.#open = commands.some(changesVariables);
    for (const { assignments, words } of commands) {
      for (const { name, values } of assignments) this.#add(name, values.map(literalOf));
      for (const word of declarationsOf(words) ?? []) {
        const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(literalOf(word) ?? '') ?? [];
        if (name !== undefined) this.#add(name, [value]);
      }
    }
  }

  #add(name: string, values: readonly (string | undefined)[]): void {
    const before = this.#values.has(name) ? this.#values.get(name) : [];
    const all = values.every((one) => one !== undefined) ? values : undefined;
    const known = before !== undefined && all !== undefined && before.length + all.length <= MOST_VALUES;
    this.#values.set(name, known ? [...before, ...all] : undefined);
  }

  /** Call it after each command, in their order: then variables that it certainly assigns are no longer unset. */
  passed({ assignments }: SimpleCommand): void {
    for (const { name, unconditional } of assignments) if (unconditional) this.#assigned.add(name);
  }

  /** Undefined: the values are known only when the script runs. */
  valuesOf(name: string, loops: readonly string[]): readonly string[] | undefined {
    if (this.#open) return undefined;
    if (!this.#values.has(name)) return name === 'HOME' ? ['~'] : name === 'PWD' ? ['.'] : undefined;
    const values = this.#values.get(name);
    if (values === undefined) return undefined;
    if (this.#assigned.has(name) || loops.includes(name)) return values;
    // It may still be unset, or have the value of an environment variable.
    return /^[a-z][a-z0-9]*$/.test(name) ? ['', ...values] : undefined;
  }
}

/** Whether a command may assign variables otherwise than by assignments and declarations whose text is certain. */
function changesVariables({ assignments, words, redirects, documents }: SimpleCommand): boolean {
  const everyWord = [...words, ...redirects, ...documents, ...assignments.flatMap(({ values }) => values)];
  if (everyWord.some(assignsByExpansion)) return true;
  const [first, ...rest] = withoutPrefixes(words);
  if (first === undefined) return false;
  const program = literalOf(first);
  // A program that is known only when the script runs may be any of them.
  if (program === undefined || CHANGES_VARIABLES.has(program)) return true;
  // `printf -v name` and `wait -p name`; an option may also be the value of a variable.
  if (program === 'printf') return rest.slice(0, 1).some((word) => literalOf(word)?.startsWith('-v') ?? true);
  // In zsh `set -A name` assigns a list.
  if (program === 'set') return rest.some((word) => /^[-+]\w*A/.test(literalOf(word) ?? '-A'));
  if (program === 'wait') return rest.some((word) => literalOf(word)?.startsWith('-') ?? true);
  return DECLARES.has(program) && rest.some((word) => !isCertain(program, word));
}

function assignsByExpansion(word: Word): boolean {
  return word.some((part) => part.type === 'unknown' && ASSIGNING_EXPANSION.test(part.source));
}

/** The arguments of a command that declares variables; undefined for another command. */
function declarationsOf(words: readonly Word[]): readonly Word[] | undefined {
  const [first, ...rest] = withoutPrefixes(words);
  return DECLARES.has(literalOf(first) ?? '') ? rest : undefined;
}

function isCertain(program: string, word: Word): boolean {
  const literal = literalOf(word);
  if (literal === undefined) return false;
  if (DECLARATION_OPTIONS.test(literal) || /^[A-Za-z_]\w*=/.test(literal)) return true;
  // Without a value these keep it; the others begin a new variable without one in a function.
  return (program === 'export' || program === 'readonly') && /^\w+$/.test(literal);
}

function withoutPrefixes(words: readonly Word[]): readonly Word[] {
  const start = words.findIndex((word, index) => {
    const literal = literalOf(word);
    return !PREFIXES.has(literal ?? '') && !(index > 0 && literal?.startsWith('-') === true);
  });
  return start === -1 ? [] : words.slice(start);
}

/** Undefined if part of it is known only when the script runs. */
function literalOf(word: Word | undefined): string | undefined {
  if (word === undefined || word.some((part) => part.type !== 'text')) return undefined;
  return word.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
