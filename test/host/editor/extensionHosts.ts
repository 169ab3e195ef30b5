// Tracks the extension hosts of a VS Code server, and how they ended, by reading the server's output.

export interface ExtensionHostExit {
  readonly pid: number;
  /** As printed by the server, for example "code: null, signal: SIGKILL". */
  readonly how: string;
  readonly clean: boolean;
}

const launched = /<(\d+)> Launched Extension Host Process/;
const exited = /<(\d+)> Extension Host Process exited with (code: (\S+), signal: (\S+?))\.?$/;

export function createExtensionHosts() {
  const running = new Set<number>();
  const listeners = new Set<(exit: ExtensionHostExit) => void>();
  return {
    /** Oldest first. */
    pids: (): number[] => [...running],
    onDidExit(listener: (exit: ExtensionHostExit) => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    readLine(line: string): void {
      const start = launched.exec(line);
      if (start !== null) running.add(Number(start[1]));
      const end = exited.exec(line.trimEnd());
      if (end === null) return;
      const [, pid, how = '', code, signal] = end;
      running.delete(Number(pid));
      for (const listener of listeners) listener({ pid: Number(pid), how, clean: code === '0' && signal === 'null' });
    },
  };
}
