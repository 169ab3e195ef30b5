// Opens the real workbench in a browser and operates it as a user would.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Browser, type BrowserContext, type FrameLocator, type Locator, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';
import { launchChromium } from '../host/editor/browser.ts';
import { installVsix } from '../host/editor/installVsix.ts';
import { installModelProvider } from '../host/editor/modelProvider.ts';
import { createSample, restoreSample } from '../host/sample.ts';
import { startVscodeServer, type VscodeServer, writeMachineSettings } from '../host/editor/serve.ts';
import { needsPicture, pictureOf, takePicture } from './pictures.ts';
import { isFull } from './runs.ts';

const root = resolve(import.meta.dirname, '../..');

export interface WorkbenchOptions {
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Folders are untrusted until a test trusts them. */
  readonly untrusted?: boolean;
  /** Opens a window without a folder. */
  readonly noFolder?: boolean;
  readonly env?: NodeJS.ProcessEnv;
  /** Installs an extension that provides a chat model through VS Code's own API. */
  readonly modelProvider?: true;
  /** A package to install and test instead of the code under development. */
  readonly installed?: string;
  /** The display language of VS Code; default: English. Only texts of extensions are translated. */
  readonly language?: 'de';
  /** Errors that the file's tests provoke; any other error in the extension's log fails the file. */
  readonly expectedErrors?: RegExp;
}

/** One window for all tests of a file, because opening one takes seconds. Tests reset it with commands. */
export class Workbench {
  #server!: VscodeServer;
  #browser!: Browser;
  #context!: BrowserContext;
  #page!: Page;
  #temporary!: string;
  #preparations = 0;
  #settings: Readonly<Record<string, unknown>> = {};
  /** The path of the extension under development; empty for an installed package, which VS Code finds on its own. */
  #extension: { readonly extension?: string } = { extension: root };
  /** The open folder: a fresh copy of the sample. */
  folder!: string;

  get page(): Page {
    return this.#page;
  }

  get server(): VscodeServer {
    return this.#server;
  }

  /** The folder with all data of the server, including `data/User/workspaceStorage`. */
  get dataFolder(): string {
    return join(this.#temporary, 'data');
  }

  async open(options: WorkbenchOptions = {}): Promise<void> {
    this.#temporary = await mkdtemp(join(tmpdir(), 'earshot-browser-'));
    this.folder = await createSample(this.#temporary);
    if (options.modelProvider === true) await installModelProvider(join(this.dataFolder, 'extensions'));
    if (options.installed !== undefined) {
      await installVsix(options.installed, this.dataFolder);
      this.#extension = {};
    }
    this.#settings = options.settings ?? {};
    const browser = launchChromium();
    const server = startVscodeServer({
      dataDir: this.dataFolder,
      settings: options.settings ?? {},
      workspaceTrust: options.untrusted ?? false,
      ...(options.env !== undefined && { env: options.env }),
      ...(options.language !== undefined && { language: options.language }),
    });
    [this.#server] = await Promise.all([server, browser]);
    await this.#openBrowser(await browser, options);
  }

  async #openBrowser(browser: Browser, options: WorkbenchOptions): Promise<void> {
    this.#browser = browser;
    this.#context = await this.#browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
    this.#page = await this.newWindow(options);
  }

  /**
   * Kills the browser, as a power loss of its machine would, and opens another. The server keeps the old window's
   * extension host.
   */
  async killBrowser(): Promise<void> {
    const gone = new Promise((resolve) => this.#browser.once('disconnected', resolve));
    const session = await this.#browser.newBrowserCDPSession();
    // The crashed browser never answers.
    session.send('Browser.crash').catch(() => undefined);
    await gone;
    await this.#openBrowser(await launchChromium(), {});
  }

  /** Another window, on the same folder by default. */
  async newWindow(options: WorkbenchOptions & { readonly folder?: string } = {}): Promise<Page> {
    const page = await this.#context.newPage();
    page.setDefaultTimeout(60_000);
    const folder = options.noFolder === true ? undefined : (options.folder ?? this.folder);
    await page.goto(this.#server.url(folder, this.#extension));
    await ready(page);
    return page;
  }

  async close(): Promise<void> {
    await Promise.all([this.#browser.close(), this.#server.stop()]);
    await rm(this.#temporary, { recursive: true, force: true });
  }

  /** Prepares an empty chat without editors for the next test; does nothing that is not needed. */
  async reset(): Promise<void> {
    const welcome = this.chat().locator('.welcome');
    const isNew = (await welcome.isVisible()) && (await this.composer().inputValue()) === '';
    if (!isNew) await this.command('Earshot: New Chat');
    // Text typed before the page has changed would be lost with the old one.
    await welcome.waitFor();
    const hasEditors = (await this.#page.locator('.editor-group-container .tab').count()) > 0;
    if (hasEditors) await this.command('View: Close All Editors');
  }

  /** Ends everything that the tests of a file left running or open, so that it does not affect the next file. */
  async leave(): Promise<void> {
    await this.openChat();
    const stop = this.chat().getByRole('button', { name: 'Stop', exact: true });
    if (await stop.isVisible()) await stop.click();
    await this.settled();
    await this.composer().fill('');
    await this.reset();
    const panel = this.#page.locator('.part.panel');
    if (await panel.isVisible()) await this.command('Terminal: Kill All Terminals');
    if (await panel.isVisible()) await this.command('View: Hide Panel');
    await waitUntil(async () => (await this.owners()).every(({ released }) => released));
  }

  /** Restores the sample and applies these settings, so that a used window is like a new one. */
  async prepare(settings: Readonly<Record<string, unknown>>): Promise<void> {
    await restoreSample(this.folder);
    const title = `Prepared ${++this.#preparations} times.`;
    // When the title has changed, the extension host also has the new settings.
    const isShown = async () => (await this.#page.title()).includes(title);
    await this.#applySettings({ ...settings, 'window.title': title }, isShown);
  }

  /** VS Code sometimes misses a change of the file on a busy machine, so it is written again until it is applied. */
  async #applySettings(settings: Readonly<Record<string, unknown>>, isApplied: () => Promise<boolean>): Promise<void> {
    this.#settings = settings;
    let writtenAt = Number.NEGATIVE_INFINITY;
    await waitUntil(async () => {
      if (performance.now() - writtenAt > 5000) {
        await writeMachineSettings(this.dataFolder, settings);
        writtenAt = performance.now();
      }
      return isApplied();
    });
  }

  /** Sets the theme in the machine settings; the window follows without a reload. */
  async setTheme(theme: string): Promise<void> {
    const isContrast = theme.includes('High Contrast');
    const [dark, light] = isContrast ? [/\bhc-black\b/, /\bhc-light\b/] : [/\bvs-dark\b/, /\bvs(?!-)\b/];
    const kind = theme.includes('Light') ? light : dark;
    const workbench = this.#page.locator('.monaco-workbench').first();
    const isShown = async () => kind.test((await workbench.getAttribute('class')) ?? '');
    await this.#applySettings({ ...this.#settings, 'workbench.colorTheme': theme }, isShown);
  }

  /** The current and former owners of the conversations, from their `owner.json` files. */
  async owners(): Promise<{ readonly pid: number; readonly released: boolean }[]> {
    const names = await readdir(this.dataFolder, { recursive: true });
    const files = names.filter((name) => name.endsWith('owner.json')).map((name) => join(this.dataFolder, name));
    return Promise.all(
      files.map(async (file) => JSON.parse(await readFile(file, 'utf8')) as { pid: number; released: boolean }),
    );
  }

  /**
   * Removes the stored state of second windows, which an earlier test may have left. Without it, a second window shows
   * the newest conversation.
   */
  async forgetOtherWindows(): Promise<void> {
    const parent = join(this.dataFolder, 'data', 'User', 'workspaceStorage');
    for (const name of await readdir(parent))
      if (/-\d$/.test(name)) await rm(join(parent, name, 'earshot.earshot', 'window.json'), { force: true });
  }

  chat(page = this.#page): FrameLocator {
    // Another view may show a page too; the chat's is opened before it.
    return page.locator('iframe.webview').first().contentFrame().frameLocator('#active-frame');
  }

  async openChat(page = this.#page): Promise<FrameLocator> {
    // Does the same as the command, without the palette.
    if (await this.composer(page).isVisible()) await this.composer(page).focus();
    else await this.command('Earshot: Open Chat', page);
    await this.composer(page).waitFor();
    return this.chat(page);
  }

  composer(page = this.#page): Locator {
    return this.chat(page).getByRole('textbox', { name: 'Message to Earshot' });
  }

  /** Types the text, sends it, and waits until it is in the transcript. */
  async say(text: string, page = this.#page): Promise<void> {
    const requests = this.transcript(page).locator('.request');
    const before = await requests.count();
    await this.composer(page).fill(text);
    await this.composer(page).press('Enter');
    // Until the request is shown, the chat looks as if the turn had already ended.
    await waitUntil(async () => (await requests.count()) > before);
  }

  transcript(page = this.#page): Locator {
    return this.chat(page).getByRole('log');
  }

  /** The card of a tool call, by a part of its title. */
  card(title: string | RegExp, page = this.#page): Locator {
    return this.chat(page).getByRole('region', { name: title });
  }

  /** Opens a list above the composer, such as `To-do`, and returns its section. */
  async openList(name: string, page = this.#page): Promise<Locator> {
    const section = this.chat(page).getByRole('region', { name, exact: true });
    const button = section.locator('.strip-button');
    if ((await button.getAttribute('aria-expanded')) !== 'true') await button.click();
    return section;
  }

  /** Waits until no turn is running. */
  async settled(page = this.#page): Promise<void> {
    await this.chat(page).getByRole('button', { name: 'Send', exact: true }).waitFor();
  }

  statusBar(page = this.#page): Locator {
    return page.locator('.statusbar-item[id="earshot.earshot.earshot.status"]');
  }

  /** Runs a command from the palette by its title, as a user would. */
  async command(title: string, page = this.#page): Promise<void> {
    await this.startCommand(title, page);
    await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
  }

  /** Starts a command that continues with its own questions. */
  async startCommand(title: string, page = this.#page): Promise<void> {
    const input = page.locator('.quick-input-widget input[type="text"]').first();
    const row = page.locator('.quick-input-list .monaco-list-row').filter({ hasText: title }).first();
    const choose = async () => {
      await input.fill(`>${title}`, { timeout: 2000 });
      await row.click({ timeout: 2000 });
    };
    // Right after the start a key press may be lost, and the palette closes when something else takes the focus: then
    // try again.
    await waitUntil(async () => {
      await page.keyboard.press('F1');
      return input
        .waitFor({ timeout: 1000 })
        .then(choose)
        .then(
          () => true,
          () => false,
        );
    });
  }

  /** Returns to the folder after the page has shown something else. */
  async returnToFolder(): Promise<void> {
    await this.#page.goto(this.#server.url(this.folder, this.#extension));
    await ready(this.#page);
  }

  async reload(page = this.#page): Promise<void> {
    await page.reload();
    await ready(page);
  }

  /** Kills the extension host without a chance to clean up, as a crash would. */
  async killExtensionHost(): Promise<void> {
    const pids = this.#server.extensionHostPids();
    expect(pids.length).toBeGreaterThan(0);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await waitUntil(async () => !this.#server.extensionHostPids().some((pid) => pids.includes(pid)));
  }

  /** The lines of the extension's output channel, of all windows and restarts; each begins with its time. */
  async logLines(): Promise<string[]> {
    const logs = join(this.dataFolder, 'data', 'logs');
    const files = (await readdir(logs, { recursive: true })).filter((file) => /earshot\.earshot.*\.log$/.test(file));
    const texts = await Promise.all(files.map((file) => readFile(join(logs, file), 'utf8')));
    return texts.flatMap((text) => text.split('\n')).sort();
  }

  /** The reasons why windows of the server loaded more than the extension's shell, oldest first. */
  async loads(): Promise<string[]> {
    return (await this.logLines()).flatMap((line) => /loading, for (.+)$/.exec(line)?.[1] ?? []);
  }

  async loggedErrors(): Promise<string[]> {
    return (await this.logLines()).filter((line) => line.includes('[error]'));
  }

  /**
   * Takes a picture for manual inspection; only in `npm run test:full`, since a picture takes longer than many tests.
   */
  async screenshot(name: string, page = this.#page): Promise<void> {
    if (isFull) await takePicture(name, page);
  }

  /** Takes a picture of each window. */
  async screenshots(name: string): Promise<void> {
    const pages = this.#context.pages();
    for (const [index, page] of pages.entries()) await takePicture(index === 0 ? name : `${name}-${index + 1}`, page);
  }
}

/** Polls until the condition holds. Also works outside a test, where vitest has no expect.poll. */
async function waitUntil(holds: () => Promise<boolean>): Promise<void> {
  await vi.waitFor(async () => expect(await holds()).toBe(true), { timeout: 60_000, interval: 50 });
}

/** Waits for our status-bar item, which is shown once the extension has started. */
async function ready(page: Page): Promise<void> {
  await page.locator('.statusbar-item[id="earshot.earshot.earshot.status"]').waitFor();
}

/**
 * Opens one window for a file's tests, takes a picture after each failed test, and closes everything. Most files can
 * share a window instead: `sharedWorkbench.ts`.
 */
export function useWorkbench(options: WorkbenchOptions | (() => Promise<WorkbenchOptions>) = {}): Workbench {
  const workbench = new Workbench();
  let opened = false;
  let expected: RegExp | undefined;
  beforeAll(async () => {
    const resolved = typeof options === 'function' ? await options() : options;
    expected = resolved.expectedErrors;
    await workbench.open(resolved);
    opened = true;
  }, 180_000);
  afterEach(async ({ task }) => {
    if (opened && needsPicture(task)) await workbench.screenshots(pictureOf(task));
  });
  afterAll(async () => {
    if (!opened) return;
    const errors = await workbench.loggedErrors();
    await workbench.close();
    expect(errors.filter((line) => expected?.test(line) !== true)).toEqual([]);
  }, 60_000);
  return workbench;
}
