// Compiles `.tsx` files for tests: Node itself runs TypeScript, but no JSX.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';

registerHooks({
  load(url, context, nextLoad) {
    if (!url.split('?')[0].endsWith('.tsx')) return nextLoad(url, context);
    const { code } = transformSync(readFileSync(fileURLToPath(url), 'utf8'), {
      loader: 'tsx',
      format: 'esm',
      target: 'es2023',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      sourcemap: 'inline',
      sourcefile: fileURLToPath(url),
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    });
    return { format: 'module', source: code, shortCircuit: true };
  },
});
