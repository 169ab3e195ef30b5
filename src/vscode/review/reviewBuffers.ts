// The Buffers port: reads and writes the disk beneath the editor's buffers, and reports saves.
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { failed } from '../../base/errors.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { type Buffers, type FileEdit, type FilePath, STALE, type Workspace } from '../../core/ports/workspace.ts';
import { deletePinned, writePinned } from '../../node/files/pinnedChanges.ts';
import { bytesOf } from '../workspace/fileEncoding.ts';
import { haveSameBytes } from '../../node/files/pinnedChanges.ts';
import { attempt } from '../workspace/fileFailures.ts';
import { guardPlaces, pinOnDisk } from '../workspace/filePlaces.ts';
import { absoluteOf, contentUri } from '../workspace/fileUris.ts';

export function createBuffers(workspace: Workspace, logger: Logger): Buffers & Disposable {
  const held = new DisposableStore();
  const report = (error: unknown) => logger.error('a save could not be reported', error);
  const onDidSave = held.add(new Emitter<{ file: FilePath; bytes: Uint8Array }>(report));
  const pathOf = async (document: vscode.TextDocument): Promise<FilePath | undefined> => {
    const file = await workspace.resolve(absoluteOf(document.uri));
    return file.ok ? file.value : undefined;
  };
  held.add(
    vscode.workspace.onDidSaveTextDocument((document) => {
      const saved = async () => {
        const [file, bytes] = await Promise.all([pathOf(document), bytesOf(document)]);
        if (file !== undefined) onDidSave.fire({ file, bytes });
      };
      void saved().catch(report);
    }),
  );
  const folders = () => vscode.workspace.workspaceFolders ?? [];
  const readBeneath = async (file: FilePath) => {
    const place = await pinOnDisk(file, folders(), false);
    if (place?.ok === false) return undefined;
    const read = await attempt(file, 'read', async () => vscode.workspace.fs.readFile(contentUri(file)));
    return read.ok ? read.value : undefined;
  };
  return {
    onDidSave: (listener) => onDidSave.event(listener),
    readBeneath,
    writeBeneath: async (file, from, to) => {
      const uri = contentUri(file);
      // If the file is a link, its target is deleted.
      const target = { path: file.real ?? file.path, absolute: absoluteOf(uri) };
      const edit: FileEdit =
        to === undefined
          ? { type: 'delete', file: target, from: from ?? new Uint8Array() }
          : { type: 'write', file, to };
      const guard = await guardPlaces(edit, folders());
      if (!guard.ok) return guard;
      if (!haveSameBytes(await readBeneath(file), from))
        return failed(STALE, vscode.l10n.t('{0} has changed.', file.path), vscode.l10n.t('Review it again.'));
      const [place] = guard.value.places;
      if (place !== undefined)
        return to === undefined ? deletePinned(place, from ?? new Uint8Array()) : writePinned(place, from, to);
      return attempt(file, 'written', async () => {
        if (to === undefined) await vscode.workspace.fs.delete(uri, { useTrash: false });
        else await vscode.workspace.fs.writeFile(uri, to);
      });
    },
    dispose: () => held.dispose(),
  };
}
