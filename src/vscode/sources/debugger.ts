// The messages between the editor and its debuggers, as they are sent.
import * as vscode from 'vscode';
import { type Debugger, type DebugSession } from '../../core/ports/sources.ts';

export const editorDebugger: Debugger = {
  onDidMessage: (listener) =>
    vscode.debug.registerDebugAdapterTrackerFactory('*', {
      createDebugAdapterTracker: (started) => {
        const session = sessionOf(started);
        return {
          onDidSendMessage: (message: unknown) => listener({ session, type: 'from_debugger', message }),
          onWillReceiveMessage: (message: unknown) => listener({ session, type: 'to_debugger', message }),
          onWillStopSession: () => listener({ session, type: 'ended' }),
        };
      },
    }),
};

function sessionOf(started: vscode.DebugSession): DebugSession {
  let root = started;
  while (root.parentSession !== undefined) root = root.parentSession;
  return {
    id: started.id,
    root: { id: root.id, name: root.name },
    type: started.type,
    absolute: (path) => (/^[a-z][\w+.-]+:\/\//.test(path) ? vscode.Uri.parse(path).fsPath : path),
    request: async (command, args) => (await started.customRequest(command, args)) as unknown,
  };
}
