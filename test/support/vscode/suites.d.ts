// What esbuild makes of all *.vscode.test.ts files.
declare module 'earshot:suites';
