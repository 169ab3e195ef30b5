// What a screen reader reads of a Markdown text.
import { expect, test } from 'vitest';
import { spokenText } from '../../../src/webview/render/markdown/spokenText.ts';

test.each([
  ['**1 of 3.** I read `README.md`.', '1 of 3. I read README.md.'],
  ['# Menu\n\n- *oolong*, 2 * 3\n- snake_case\n> quoted', 'Menu\n\noolong, 2 * 3\nsnake_case\nquoted'],
  ['See [the menu](src/menu.ts:3).', 'See the menu.'],
  ['```ts\nconst a = 1;\n```', '\nconst a = 1;\n'],
])('%s', (markdown, spoken) => {
  expect(spokenText(markdown)).toBe(spoken);
});

test('a long text with unclosed marks is cut, not searched', () => {
  expect(spokenText('['.repeat(1_000_000)).length).toBe(2000);
});
