// The module that esbuild generates from all *.vscode.test.ts files.
declare module 'earshot:suites' {
  /** Loads each file, by its path in test/vscode. */
  export const suites: Readonly<Record<string, () => Promise<unknown>>>;
}
