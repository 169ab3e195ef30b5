// The module that esbuild generates from all *.vscode.test.ts files.
declare module 'earshot:suites';
