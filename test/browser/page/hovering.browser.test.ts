// Buttons that appear on hover, on the page alone: they cover no text.
import { expect, test } from 'vitest';
import { type TranscriptItem } from '../../../src/protocol/transcript.ts';
import { usePages } from '../../support/page/pageAlone.ts';

const open = usePages();

const long = 'Every word of this sentence stays readable while the mouse is over it, '.repeat(4);
const answers = {
  paragraph: `${long}${'end '.repeat(30)}`,
  list: `- ${long}\n- ${long}`,
  table: `| a | b |\n|---|---|\n| ${long} | ${long} |`,
  quote: `> ${long}`,
};

test.each(Object.entries(answers))(
  'buttons of a request and of an answer that ends with a %s cover no text',
  async (_, text) => {
    const alone = await open();
    const { page } = alone;
    const answer: TranscriptItem = { type: 'answer', id: 'a', text, reasoning: '', streaming: false, truncated: false };
    const request: TranscriptItem = { type: 'request', id: 'r', source: 'user', text: long };
    await alone.show({ title: 'x' }, [request, answer]);
    for (const selector of ['.request', '.answer']) {
      await page.locator(selector).hover({ position: { x: 5, y: 5 } });
      for (const width of [240, 271, 300, 333, 600]) {
        await page.setViewportSize({ width, height: 900 });
        await alone.drawn();
        const covered = await page.locator(selector).evaluate((element) => {
          const buttons = [...element.querySelectorAll('.request-actions button, .answer-actions button')];
          const words = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
          const found: string[] = [];
          for (let node = words.nextNode(); node !== null; node = words.nextNode()) {
            const range = document.createRange();
            range.selectNodeContents(node);
            for (const line of range.getClientRects()) {
              for (const button of buttons) {
                const box = button.getBoundingClientRect();
                const across = Math.min(line.right, box.right) - Math.max(line.left, box.left);
                const down = Math.min(line.bottom, box.bottom) - Math.max(line.top, box.top);
                if (across > 1 && down > 4) found.push(`${button.ariaLabel}: ${node.textContent?.slice(0, 30)}`);
              }
            }
          }
          return { buttons: buttons.length, found };
        });
        expect(covered.buttons).toBeGreaterThan(0);
        expect(covered.found).toEqual([]);
      }
    }
  },
);
