// Finds the code that a bundle loads at start, from esbuild's metafile: a file and its static imports.
import type { Metafile } from 'esbuild';

export interface LoadedCode {
  readonly bytes: number;
  readonly outputs: readonly string[];
  readonly inputs: readonly string[];
}

export function staticallyLoaded({ outputs }: Metafile, entry: string): LoadedCode {
  const found = new Set<string>();
  const visit = (name: string) => {
    const output = outputs[name];
    if (output === undefined || found.has(name)) return;
    found.add(name);
    for (const { path, kind } of output.imports) if (kind !== 'dynamic-import') visit(path);
  };
  visit(entry);
  const loaded = [...found].flatMap((name) => outputs[name] ?? []);
  return {
    bytes: loaded.reduce((sum, { bytes }) => sum + bytes, 0),
    outputs: [...found],
    inputs: loaded.flatMap(({ inputs }) => Object.keys(inputs)),
  };
}
