// One output channel for each program plugin, created with its first output.
import * as vscode from 'vscode';
import { type Disposable } from '../../base/disposable.ts';
import { type OutputSink } from '../../plugins/output.ts';

export class PluginChannels implements Disposable {
  readonly #channels = new Map<string, vscode.OutputChannel>();

  open(name: string): OutputSink {
    return {
      append: (text) => this.#channel(name).appendLine(text),
      log: (level, message) =>
        this.#channel(name).appendLine(`${new Date().toLocaleTimeString()} [${level}] ${message}`),
    };
  }

  show(name: string): void {
    this.#channel(name).show(true);
  }

  dispose(): void {
    for (const channel of this.#channels.values()) channel.dispose();
    this.#channels.clear();
  }

  #channel(name: string): vscode.OutputChannel {
    const channel = this.#channels.get(name) ?? vscode.window.createOutputChannel(`Earshot Plugin: ${name}`);
    this.#channels.set(name, channel);
    return channel;
  }
}
