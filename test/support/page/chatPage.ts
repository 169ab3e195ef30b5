// The chat page alone in a browser, with a VS Code theme and the test acting as the host: much cheaper than a window.
import { mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Page } from 'playwright-core';
import { emptyChatHead } from '../../../src/core/frontend/chatHead.ts';
import { type TranscriptItem } from '../../../src/protocol/transcript.ts';
import {
  type Change,
  type ChatState,
  type FromPage,
  fromPageSchema,
  type ToPage,
} from '../../../src/protocol/webview.ts';
import { pageHtml } from '../../../src/vscode/chat/pageHtml.ts';
import { findViolations } from '../accessibility.ts';
import { runs } from '../runs.ts';
import themes from './themes.json' with { type: 'json' };

const root = resolve(import.meta.dirname, '../../..');
const pictures = join(root, '.build', 'screenshots', 'page');
const origin = 'http://earshot.test';

export type Theme = keyof typeof themes;
const THEMES = Object.keys(themes) as readonly Theme[];
const full = runs(0, 1) === 1;

const head = emptyChatHead({ version: '1.0.0', hostVersion: '1.106.0' }, { label: 'test-model', detail: 'localhost' });

export class PageAlone {
  readonly page: Page;
  readonly posted: FromPage[] = [];
  readonly problems: string[] = [];
  #number = 0;
  #html: string | undefined;

  constructor(page: Page) {
    this.page = page;
    page.on('pageerror', (error) => this.problems.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') this.problems.push(message.text());
    });
  }

  /** Loads the page. Loading it again for the next test is cheaper than opening another page. */
  async open(
    options: { readonly theme?: Theme; readonly bundle?: Readonly<Record<string, string>> } = {},
  ): Promise<void> {
    const isFirst = this.#html === undefined;
    const nonce = 'dGVzdA==';
    this.#html = pageHtml({
      page: 'chat',
      source: origin,
      nonce,
      language: options.bundle === undefined ? 'en' : 'de',
      bundle: options.bundle ?? {},
      uri: (...path) => `${origin}/${path.join('/')}`,
    });
    if (isFirst) await this.#connect();
    this.posted.length = 0;
    this.#number = 0;
    await this.page.goto(`${origin}/`);
    await this.setTheme(options.theme ?? 'dark');
    await this.waitFor('ready');
  }

  /** Connects the page to the test instead of a host. */
  async #connect(): Promise<void> {
    await this.page.exposeFunction('postToHost', (message: unknown) => {
      const parsed = fromPageSchema.safeParse(message);
      if (parsed.success) this.posted.push(parsed.data);
      else this.problems.push(`invalid message: ${JSON.stringify(message).slice(0, 300)}`);
    });
    await this.page.addInitScript(() => {
      const { postToHost } = window as unknown as { postToHost(message: unknown): void };
      Object.assign(window, { acquireVsCodeApi: () => ({ postMessage: (message: unknown) => postToHost(message) }) });
    });
    await this.page.route(`${origin}/**`, async (route) => {
      const path = new URL(route.request().url()).pathname;
      if (path === '/') return route.fulfill({ contentType: 'text/html', body: this.#html ?? '' });
      const type = path.endsWith('.css') ? 'text/css' : 'text/javascript';
      return route.fulfill({ contentType: type, body: await readFile(join(root, path), 'utf8') });
    });
  }

  async setTheme(theme: Theme): Promise<void> {
    await this.page.evaluate(({ body, variables }) => {
      document.body.className = body;
      const { style } = document.documentElement;
      style.cssText = '';
      for (const [name, value] of Object.entries(variables)) style.setProperty(name, value);
      style.background = 'var(--vscode-sideBar-background, var(--vscode-editor-background))';
    }, themes[theme]);
  }

  async send(message: ToPage): Promise<void> {
    await this.page.evaluate((data) => window.postMessage(data, '*'), message);
  }

  /** Shows a conversation in this state. */
  async show(state: Partial<ChatState> = {}, items: readonly TranscriptItem[] = []): Promise<void> {
    await this.send({
      type: 'snapshot',
      number: ++this.#number,
      state: { ...head, conversation: 'c', ...state, items },
    });
    await this.page.locator('main.chat').waitFor();
    await this.drawn();
  }

  /** Resolves once everything sent so far is rendered and its effects have run. */
  async drawn(): Promise<void> {
    await this.page.evaluate(async () => {
      for (let frame = 0; frame < 3; frame++) await new Promise((resolve) => requestAnimationFrame(resolve));
      await new Promise((resolve) => setTimeout(resolve));
    });
  }

  async change(...changes: readonly Change[]): Promise<void> {
    await this.send({ type: 'delta', number: ++this.#number, changes });
  }

  /** Resolves with the next message of this type that no earlier call returned. */
  async waitFor<T extends FromPage['type']>(type: T): Promise<Extract<FromPage, { type: T }>> {
    const find = () => this.posted.findIndex((message) => message.type === type);
    const end = Date.now() + 60_000;
    while (find() === -1) {
      if (Date.now() > end) throw new Error(`the page did not post ${type}`);
      await pause(20);
    }
    return this.posted.splice(find(), 1)[0] as Extract<FromPage, { type: T }>;
  }

  /** Takes a picture; only in `npm run test:full`. */
  async picture(name: string): Promise<void> {
    if (!full) return;
    await mkdir(pictures, { recursive: true });
    await this.page.screenshot({ path: join(pictures, `${name.replace(/[^a-z0-9]+/gi, '-')}.png`) });
  }

  /** Takes one picture for each theme and width; only in `npm run test:full`. */
  async pictures(name: string, widths: readonly number[] = [250, 300, 600]): Promise<void> {
    if (!full) return;
    for (const theme of THEMES) {
      await this.setTheme(theme);
      for (const width of widths) {
        await this.page.setViewportSize({ width, height: 700 });
        await this.picture(`${name}-${theme}-${width}`);
      }
    }
    await this.setTheme('dark');
    await this.page.setViewportSize({ width: 300, height: 700 });
  }

  /** The violations that axe finds in the dark theme; `npm run test:full` checks every theme. */
  async violations(): Promise<string[]> {
    const found: string[] = [];
    for (const theme of full ? THEMES : THEMES.slice(0, 1)) {
      await this.setTheme(theme);
      found.push(...(await findViolations(this.page.mainFrame())).map((line) => `${theme}: ${line}`));
    }
    await this.setTheme('dark');
    return found;
  }
}
