// Shows a command in a terminal of VS Code, where the user sees its output and can type input.
import { StringDecoder } from 'node:string_decoder';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type Handle } from '../../core/ports/handles.ts';
import { describeHandleState } from '../../core/tools/handleTexts.ts';
import { platform } from '../../node/platform/platform.ts';
import { failureMessage } from '../failureMessage.ts';

/** Maximum of output from before the terminal was opened that is shown. */
const BACKLOG_BYTES = 256 * 1024;
const AT_ONCE = 64 * 1024;

/** One terminal for each command, created on demand. */
export class TerminalMirrors implements Disposable {
  readonly #held = new DisposableStore();
  readonly #terminals = new Map<Handle, vscode.Terminal>();
  readonly #report: (error: unknown) => void;

  constructor(report: (error: unknown) => void) {
    this.#report = report;
    this.#held.add(
      vscode.window.onDidCloseTerminal((closed) => {
        for (const [handle, terminal] of this.#terminals) if (terminal === closed) this.#terminals.delete(handle);
      }),
    );
  }

  /** Does not move the focus. */
  show(handle: Handle): vscode.Terminal {
    const known = this.#terminals.get(handle);
    const terminal = known ?? this.#create(handle);
    terminal.show(true);
    return terminal;
  }

  dispose(): void {
    this.#held.dispose();
    for (const terminal of this.#terminals.values()) terminal.dispose();
  }

  #create(handle: Handle): vscode.Terminal {
    const terminal = vscode.window.createTerminal({
      name: `Earshot: ${handle.name ?? handle.process.command.slice(0, 40)}`,
      pty: new Mirror(handle, this.#report),
      iconPath: new vscode.ThemeIcon('terminal'),
      isTransient: true,
    });
    this.#terminals.set(handle, terminal);
    return terminal;
  }
}

/** The command reads whole lines from a pipe, so this does what a terminal driver does: echo and line editing. */
export class Mirror implements vscode.Pseudoterminal {
  readonly #handle: Handle;
  readonly #report: (error: unknown) => void;
  readonly #write = new vscode.EventEmitter<string>();
  readonly #close = new vscode.EventEmitter<void>();
  readonly #held = new DisposableStore();
  readonly #decoder = new StringDecoder('utf8');
  #shown: number;
  #showing: Promise<void> | undefined;
  #line = '';
  #closed = false;
  #endShown = false;

  constructor(handle: Handle, report: (error: unknown) => void) {
    this.#handle = handle;
    this.#report = report;
    this.#shown = Math.max(0, handle.process.status.size - BACKLOG_BYTES);
    this.#held.add(handle.onDidChange(() => this.#update()));
  }

  readonly onDidWrite = this.#write.event;
  readonly onDidClose = this.#close.event;

  open(): void {
    this.#write.fire(`\u001b[2m$ ${this.#handle.process.command.replace(/\r?\n/g, '\r\n')}\u001b[0m\r\n`);
    this.#update();
  }

  close(): void {
    this.#closed = true;
    this.#held.dispose();
    this.#write.dispose();
    this.#close.dispose();
  }

  handleInput(data: string): void {
    if (this.#endShown) {
      this.#close.fire();
      return;
    }
    // Arrow keys and other escape sequences are not supported.
    if (data.startsWith('\u001b')) return;
    for (const character of data) this.#typed(character);
  }

  #typed(character: string): void {
    if (character === '\u0003') {
      this.#write.fire('^C\r\n');
      this.#line = '';
      this.#handle.process.interrupt();
      return;
    }
    if (!this.#handle.process.status.inputOpen) {
      this.#writeNote(
        platform.processes.interrupts
          ? vscode.l10n.t('This command accepts no input. Press Ctrl+C to interrupt it.')
          : vscode.l10n.t('This command accepts no input. Press Ctrl+C to end it.'),
      );
      return;
    }
    switch (character) {
      case '\r':
      case '\n':
        this.#write.fire('\r\n');
        return this.#send(`${this.#line}\n`, false);
      case '\u0004':
        return this.#send(this.#line, this.#line === '');
      case '\u007f':
      case '\b':
        if (this.#line !== '') this.#write.fire('\b \b');
        this.#line = Array.from(this.#line).slice(0, -1).join('');
        return;
      default:
        this.#line += character;
        this.#write.fire(character);
    }
  }

  #send(text: string, last: boolean): void {
    this.#line = '';
    const written = this.#handle.write(text, last).then((result) => {
      if (!result.ok && !this.#closed) this.#writeNote(failureMessage(result.failure));
    });
    void written.catch(this.#report);
  }

  #update(): void {
    this.#showing ??= this.#show()
      .catch(this.#report)
      .finally(() => {
        this.#showing = undefined;
        // More output may have arrived while the last piece was shown.
        if (!this.#closed && !this.#isUpToDate) this.#update();
      });
  }

  get #isUpToDate(): boolean {
    return this.#shown >= this.#handle.process.status.size && this.#endShown === this.#handle.hasEnded;
  }

  async #show(): Promise<void> {
    const { process } = this.#handle;
    while (!this.#closed && this.#shown < process.status.size) {
      const { from, bytes } = await process.read(this.#shown, AT_ONCE);
      if (bytes.length === 0) break;
      this.#shown = from + bytes.length;
      this.#write.fire(this.#decoder.write(bytes).replace(/\r?\n/g, '\r\n'));
    }
    if (this.#closed || !this.#handle.hasEnded || this.#endShown) return;
    this.#endShown = true;
    this.#shown = process.status.size;
    this.#writeNote(`${describeHandleState(this.#handle)}. ${vscode.l10n.t('Press any key to close this terminal.')}`);
  }

  /** Writes a note of Earshot, dimmed and in brackets to distinguish it from the command's output. */
  #writeNote(text: string): void {
    this.#write.fire(`\u001b[2m[${text.replace(/\r?\n/g, '\r\n ')}]\u001b[0m\r\n`);
  }
}
