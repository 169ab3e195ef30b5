// Runs axe on the chat as it is rendered now.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type Frame } from 'playwright-core';

interface Violation {
  id: string;
  nodes: { html: string }[];
}

/** Returns the violations, one line each. */
export async function findViolations(frame: Frame): Promise<string[]> {
  await frame.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
  return frame.evaluate(async () => {
    // The page is transparent and shows the side bar behind it; axe runs inside the frame and would assume white.
    document.body.style.backgroundColor = 'var(--vscode-sideBar-background)';
    const { axe } = window as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } };
    const { violations } = await axe.run({ resultTypes: ['violations'] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
  });
}
