// Targets of links in answers.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linkTarget } from '../../../src/webview/render/markdown/links.ts';

describe('linkTarget', () => {
  it.each(['https://example.com/a?b=1#c', 'http://localhost:3000', 'HTTPS://EXAMPLE.COM', 'mailto:a@b.example'])(
    'opens %s in the browser',
    (url) => {
      expect(linkTarget(url)).toEqual({ type: 'external', url });
    },
  );

  it.each([
    ['src/a.ts', { path: 'src/a.ts' }],
    ['./src/a%20b.ts', { path: './src/a b.ts' }],
    ['src/a.ts#L12', { path: 'src/a.ts', line: 12 }],
    ['src/a.ts#L12-L20', { path: 'src/a.ts', line: 12 }],
    ['src/a.ts:12:3', { path: 'src/a.ts', line: 12, column: 3 }],
    ['main.ts:12', { path: 'main.ts', line: 12 }],
    ['docs/x.md#heading', { path: 'docs/x.md' }],
    ['/home/me/a.ts', { path: '/home/me/a.ts' }],
    ['C:\\work\\a.ts', { path: 'C:\\work\\a.ts' }],
    ['100%.txt', { path: '100%.txt' }],
  ])('opens the file of %s', (href, target) => {
    expect(linkTarget(href)).toEqual({ type: 'file', ...target });
  });

  it.each([
    ...[
      'javascript:alert(1)',
      'JavaScript:alert(1)',
      ' javascript:alert(1)',
      'java\nscript:alert(1)',
      'java\tscript:x',
      '\u0001javascript:x',
    ],
    ...[
      'data:text/html,x',
      'vbscript:x',
      'file:///etc/passwd',
      'command:workbench.action.quit',
      'vscode:extension/x',
      'vscode-webview://x',
    ],
    ...[
      '//evil.example/x',
      '\\\\evil\\share',
      '#top',
      '?x',
      '',
      '  ',
      'https://',
      'src/a%00.ts',
      'blob:https://x',
      'ws://x',
    ],
  ])('does nothing for %j', (href) => {
    expect(linkTarget(href)).toEqual({ type: 'none' });
  });

  it('never returns an address with another scheme', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.webUrl(),
          fc.string().map((text) => `javascript:${text}`),
        ),
        (href) => {
          const target = linkTarget(href);
          if (target.type === 'external') expect(new URL(target.url).protocol).toMatch(/^(?:https?|mailto):$/);
          if (target.type === 'file') expect(target.path.length).toBeLessThanOrEqual(5000);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
