// Highlights code: turns the scopes of highlight.js into a tree that is rendered without HTML text.
import type { Emitter } from 'highlight.js';
import hljs from 'highlight.js/lib/core';
import diff from 'highlight.js/lib/languages/diff';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import typescript from 'highlight.js/lib/languages/typescript';

/** Larger blocks stay plain: grammars take quadratic time in the length of a block and of a line. */
const LIMIT = 20_000;
const LONGEST_LINE = 1000;
/** Deeper scopes have the style of their parent. */
const DEEPEST = 20;

export type Coloured = string | { readonly scope: string; readonly children: readonly Coloured[] };
interface Scope {
  readonly scope: string;
  readonly children: Coloured[];
}

class TreeEmitter implements Emitter {
  readonly root: Scope = { scope: '', children: [] };
  readonly #stack: Scope[] = [this.root];

  startScope(scope: string): void {
    if (this.#stack.length >= DEEPEST) {
      this.#stack.push(this.#top());
      return;
    }
    const opened: Scope = { scope, children: [] };
    this.#top().children.push(opened);
    this.#stack.push(opened);
  }

  endScope(): void {
    if (this.#stack.length > 1) this.#stack.pop();
  }

  /** Not in the published type, but called for every mode of a grammar. */
  openNode(scope: string): void {
    this.startScope(scope);
  }

  closeNode(): void {
    this.endScope();
  }

  addText(text: string): void {
    if (text !== '') this.#top().children.push(text);
  }

  __addSublanguage(emitter: Emitter): void {
    if (!(emitter instanceof TreeEmitter)) return;
    for (const child of emitter.root.children) this.#top().children.push(child);
  }

  finalize(): void {
    this.#stack.length = 1;
  }

  toHTML(): string {
    return '';
  }

  #top(): Scope {
    return this.#stack.at(-1) ?? this.root;
  }
}

const languages = {
  diff,
  javascript,
  json,
  typescript,
};
/** Names and aliases of languages that are loaded when they are first needed. */
const LATER =
  /^(?:bash|sh|zsh|c|h|cpp|cc|hpp|cxx|c\+\+|csharp|cs|c#|css|dockerfile|docker|go|golang|ini|toml|java|kotlin|kt|kts|makefile|make|mk|markdown|md|mkdown|mkd|php|powershell|ps1|pwsh|python|py|ipython|ruby|rb|rust|rs|shell|console|shellsession|sql|svelte|vue|xml|html|xhtml|rss|atom|xjb|xsd|xsl|plist|wsf|svg|yaml|yml)$/;

const hl = hljs.newInstance();
hl.configure({ __emitter: TreeEmitter });
for (const [name, language] of Object.entries(languages)) hl.registerLanguage(name, language);
hl.registerAliases(['jsonc', 'json5'], { languageName: 'json' });

let loading: Promise<void> | undefined;
/** Grammars that have highlighted something. */
const compiled = new Set<unknown>();

/** False until `prepareLanguage` has resolved; an unknown language needs no preparation. */
export function isPrepared(language: string): boolean {
  const grammar = hl.getLanguage(language);
  return grammar === undefined ? !LATER.test(language) : compiled.has(grammar);
}

/**
 * Loads the grammar and compiles it by highlighting `text`. Compiling takes tens of milliseconds, so it gets a task of its
 * own: in the task that draws an answer the page would not respond to the user for that long.
 */
export async function prepareLanguage(language: string, text: string): Promise<void> {
  if (LATER.test(language)) await loadGrammars();
  await new Promise((resolve) => setTimeout(resolve));
  if (!isPrepared(language)) highlight(text, language);
}

function loadGrammars(): Promise<void> {
  loading ??= import('./moreLanguages.ts').then(({ moreLanguages }) => {
    for (const [name, grammar] of Object.entries(moreLanguages)) hl.registerLanguage(name, grammar);
    hl.registerAliases(['vue', 'svelte'], { languageName: 'xml' });
  });
  return loading;
}

/** Undefined: not highlighted (unknown language, too long, or highlight.js failed). */
export function highlight(text: string, language: string): readonly Coloured[] | undefined {
  const grammar = hl.getLanguage(language);
  if (text.length > LIMIT || hasLongLine(text) || grammar === undefined) return undefined;
  compiled.add(grammar);
  const result = hl.highlight(text, { language, ignoreIllegals: true });
  return result._emitter instanceof TreeEmitter && result.errorRaised === undefined
    ? result._emitter.root.children
    : undefined;
}

function hasLongLine(text: string): boolean {
  return text.split('\n').some((line) => line.length > LONGEST_LINE);
}
