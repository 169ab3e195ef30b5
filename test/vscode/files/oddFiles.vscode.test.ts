// Unusual files in the real editor: encodings, line endings, sizes, links, permissions, names, several folders, a virtual file system.
import * as assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { encodeText } from '../../../src/base/encodings.ts';
import { type Snapshots } from '../../../src/core/ports/storage.ts';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { createSnapshots } from '../../../src/storage/snapshots.ts';
import { createWorkspace } from '../../../src/vscode/workspace/editorWorkspace.ts';
import { resolveIn } from '../../../src/vscode/workspace/filePaths.ts';
import { toFilePath } from '../../../src/vscode/workspace/fileUris.ts';
import { runs } from '../../support/runs.ts';
import { createToolBench, type ToolBench } from '../../support/tools/toolBench.ts';
import { cleanUpAfterEach, folder, onDisk, put, typeInto } from '../../support/vscode/editing.ts';
import { checkLeaks } from '../../support/vscode/startedExtension.ts';
import { MemoryFiles, SCHEME } from '../../support/workspace/memoryFiles.ts';

describe('unusual files', () => {
  checkLeaks('once');
  cleanUpAfterEach();
  let bench: ToolBench;
  let snapshots: Snapshots;
  let storage: string;

  before(async () => {
    storage = await mkdtemp(join(tmpdir(), 'earshot-odd-'));
    snapshots = createSnapshots({ files: realFileSystem, folder: storage });
  });
  after(() => rm(storage, { recursive: true }));
  beforeEach(async () => {
    bench = await createToolBench(createWorkspace(), snapshots);
  });
  afterEach(() => {
    bench.log.dispose();
    assert.deepEqual(bench.errors, []);
  });

  const edit = (path: string, old_text: string, new_text: string) =>
    bench.call('edit_file', { path, edits: [{ old_text, new_text }] });

  async function done(response: ReturnType<ToolBench['call']>): Promise<string> {
    const { is_error, content } = await response;
    assert.equal(is_error, false, content);
    return content;
  }

  async function refused(response: ReturnType<ToolBench['call']>): Promise<string> {
    const { is_error, content } = await response;
    assert.equal(is_error, true, content);
    return content;
  }

  const bytesOnDisk = async (name: string) => new Uint8Array(await readFile(onDisk(name)));

  const TEXT = 'Grüße\nzweite Zeile\n';
  for (const encoding of ['utf8', 'utf8bom', 'utf16le', 'utf16be', 'windows1252'] as const) {
    it(`${encoding} stays ${encoding}, in the file and in its buffer`, async () => {
      const encoded = (text: string) => encodeText(text, encoding) ?? new Uint8Array();
      const path = await put('text.txt', encoded(TEXT));
      assert.equal(await done(bench.call('read_file', { path })), TEXT);
      await done(edit(path, 'zweite', '2te ä'));
      assert.deepEqual(await bytesOnDisk('text.txt'), encoded(TEXT.replace('zweite', '2te ä')));
      await done(bench.call('write_file', { path, content: 'ganz neu: ö\n' }));
      assert.deepEqual(await bytesOnDisk('text.txt'), encoded('ganz neu: ö\n'));
      const document = await typeInto('text.txt', (text) => `${text}getippt: ß\n`);
      assert.match(await done(edit(path, 'ganz', 'GANZ')), /is not saved/);
      assert.equal(document.getText(), 'GANZ neu: ö\ngetippt: ß\n');
      assert.ok(await document.save());
      assert.deepEqual(await bytesOnDisk('text.txt'), encoded('GANZ neu: ö\ngetippt: ß\n'));
    });
  }

  it('an encoding set only in the settings applies to existing and new files', async () => {
    const settings = vscode.workspace.getConfiguration('files');
    await settings.update('encoding', 'shiftjis', vscode.ConfigurationTarget.Workspace);
    try {
      const before = Uint8Array.of(0x93, 0xfa, 0x96, 0x7b, 0x0a);
      const path = await put('sjis.txt', before);
      assert.equal(await done(bench.call('read_file', { path })), '日本\n');
      await done(edit(path, '日', '本'));
      assert.deepEqual(await bytesOnDisk('sjis.txt'), Uint8Array.of(0x96, 0x7b, 0x96, 0x7b, 0x0a));
      assert.match(await refused(edit(path, '本本', '🦊')), /cannot hold new_text in its encoding/);
      await done(bench.call('write_file', { path: `${folder}/new.txt`, content: '日\n' }));
      assert.deepEqual(await bytesOnDisk('new.txt'), Uint8Array.of(0x93, 0xfa, 0x0a));
    } finally {
      await settings.update('encoding', undefined, vscode.ConfigurationTarget.Workspace);
    }
  });

  it('line endings and a missing final newline are kept', async () => {
    for (const [name, before, after] of [
      ['crlf.txt', 'a\r\nb\r\n', 'a\r\nB\r\nc\r\n'],
      ['bare.txt', 'a\nb', 'a\nB\nc'],
      ['mixed.txt', 'x\na\r\nb\n', 'x\na\r\nB\nc\n'],
      ['lone.txt', 'a\rb', 'a\rB\nc'],
    ] as const) {
      const path = await put(name, before);
      await bench.call('read_file', { path });
      await done(edit(path, 'b', 'B\nc'));
      assert.equal(await readFile(onDisk(name), 'utf8'), after);
    }
  });

  it('a file of 50 MB can be read in parts and edited; larger and binary files are refused', async () => {
    const line = `${'x'.repeat(99)}\n`;
    const largest = 50 * 1024 * 1024;
    // `npm test` uses a tenth of the size: the editor needs many seconds for the largest file.
    const most = Buffer.alloc(runs(largest / 10, largest), line);
    const middle = most.length / 2 - ((most.length / 2) % line.length);
    most.write('the only one of its kind', middle);
    const path = await put('long.txt', most);
    const number = middle / line.length;
    const part = await done(bench.call('read_file', { path, first_line: number, last_line: number + 2 }));
    assert.match(part, /the only one of its kind/);
    await done(edit(path, 'the only one of its kind', 'THE ONLY ONE'));
    const after = await readFile(onDisk('long.txt'));
    assert.equal(after.length, most.length - 12);
    assert.equal(after.subarray(middle, middle + 12).toString(), 'THE ONLY ONE');
    await writeFile(onDisk('long.txt'), Buffer.alloc(largest + 1, line));
    for (const call of [bench.call('read_file', { path }), edit(path, 'x', 'y'), bench.call('delete_file', { path })]) {
      assert.match(await refused(call), /is too big \(50 MB; at most 50\)\. run_command can look into it\./);
    }
    const binary = await put('image.bin', Uint8Array.of(0x89, 0x50, 0, 1, 2, 255));
    assert.match(await refused(bench.call('read_file', { path: binary })), /is not a text file \(6 bytes\)/);
    assert.match(await refused(edit(binary, 'P', 'Q')), /is not a text file \(6 bytes\)/);
    assert.match(await refused(bench.call('write_file', { path: binary, content: 'x' })), /you have not read it/);
    await done(bench.call('move_file', { path: binary, to: `${folder}/moved.bin` }));
    assert.deepEqual(await bytesOnDisk('moved.bin'), Uint8Array.of(0x89, 0x50, 0, 1, 2, 255));
  }).timeout(300_000);

  it('links are read and edited at their target, moved and deleted as links, and refused if they lead out of the workspace', async () => {
    const target = await put('target.txt', 'one\n');
    await symlink(onDisk('target.txt'), onDisk('link.txt'));
    await symlink(onDisk('nowhere.txt'), onDisk('dangling.txt'));
    await symlink(join(tmpdir()), onDisk('out'));
    const link = `${folder}/link.txt`;
    await done(bench.call('read_file', { path: link }));
    await done(edit(link, 'one', 'two'));
    assert.equal(await readFile(onDisk('target.txt'), 'utf8'), 'two\n');
    assert.match(await refused(bench.call('read_file', { path: `${folder}/dangling.txt` })), /does not exist/);
    assert.match(await refused(bench.call('read_file', { path: `${folder}/out/x.txt` })), /outside|does not exist/);
    await done(bench.call('move_file', { path: link, to: `${folder}/other.txt` }));
    await done(bench.call('delete_file', { path: `${folder}/other.txt` }));
    assert.equal(await done(bench.call('read_file', { path: target })), 'two\n');
    assert.match(await done(bench.call('list_files', { path: folder })), /dangling\.txt \(link\)/);
  });

  it('files in a read-only folder cannot be changed or created', async () => {
    const path = await put('closed/a.txt', 'a\n');
    await chmod(onDisk('closed'), 0o555);
    try {
      const missing = /The folder of .* cannot be written: permission denied\. The user can grant the permission\./;
      assert.match(await refused(bench.call('delete_file', { path })), missing);
      assert.match(await refused(bench.call('move_file', { path, to: `${folder}/b.txt` })), missing);
      assert.match(await refused(bench.call('write_file', { path: `${folder}/closed/new.txt`, content: '' })), missing);
    } finally {
      await chmod(onDisk('closed'), 0o755);
    }
    assert.equal(await readFile(onDisk('closed/a.txt'), 'utf8'), 'a\n');
  });

  it('file names may contain any character', async () => {
    const names = [
      'a b.txt',
      `it's "quoted".txt`,
      'two\nlines.txt',
      '𝒳 🦊.txt',
      '100%41#x?y.txt',
      '-rf.txt',
      'back\\slash.txt',
      ' space around ',
    ];
    await mkdir(onDisk('.'), { recursive: true });
    for (const name of names) {
      const path = `${folder}/${name}`;
      await done(bench.call('write_file', { path, content: 'made\n' }));
      await done(edit(path, 'made', 'edited'));
      assert.equal(await readFile(onDisk(name), 'utf8'), 'edited\n');
      await done(bench.call('move_file', { path, to: `${folder}/moved/${name}` }));
      assert.equal(await done(bench.call('read_file', { path: `${folder}/moved/${name}` })), 'edited\n');
    }
    const listed = (await done(bench.call('list_files', { path: `${folder}/moved` }))).split('\n');
    assert.equal(listed.length, names.length);
    assert.ok(listed.includes(JSON.stringify(`${folder}/moved/two\nlines.txt`)));
    for (const name of names) await done(bench.call('delete_file', { path: `${folder}/moved/${name}` }));
  });

  describe('of a virtual file system', () => {
    let files: MemoryFiles;
    let registered: vscode.Disposable;
    let root: vscode.WorkspaceFolder;
    let count = 0;

    beforeEach(async () => {
      count += 1;
      files = new MemoryFiles();
      registered = vscode.workspace.registerFileSystemProvider(SCHEME, files, { isCaseSensitive: true });
      root = { uri: vscode.Uri.from({ scheme: SCHEME, path: `/root${count}` }), name: 'virtual', index: 0 };
      bench.log.dispose();
      bench = await createToolBench(
        createWorkspace(() => [root]),
        snapshots,
      );
    });
    afterEach(() => {
      registered.dispose();
    });

    const text = (name: string): string => new TextDecoder().decode(files.files.get(`${root.uri.path}/${name}`));
    const give = (name: string, content: string) =>
      files.files.set(`${root.uri.path}/${name}`, new TextEncoder().encode(content));

    it('are read, edited, created, moved, deleted and listed', async () => {
      give('a.txt', 'one\n');
      assert.equal(await done(bench.call('read_file', { path: 'a.txt' })), 'one\n');
      await done(edit('a.txt', 'one', 'two'));
      assert.equal(text('a.txt'), 'two\n');
      await done(bench.call('write_file', { path: 'dir/b #1.txt', content: 'new\n' }));
      assert.equal(await done(bench.call('list_files', {})), 'a.txt\ndir/\ndir/b #1.txt');
      await done(bench.call('move_file', { path: 'a.txt', to: 'dir/c.txt' }));
      await done(bench.call('delete_file', { path: 'dir/c.txt' }));
      assert.deepEqual([...files.files.keys()], [`${root.uri.path}/dir/b #1.txt`]);
      assert.match(await refused(bench.call('read_file', { path: '../x' })), /is outside the workspace/);
    });

    it('stay unchanged if the disk is full, permissions are missing or they are read-only', async () => {
      give('a.txt', 'one\n');
      files.fault = (uri) => vscode.FileSystemError.Unavailable(`no space left for ${uri.path}`);
      assert.match(await refused(edit('a.txt', 'one', 'two')), /a\.txt could not be saved\. The user sees the reason/);
      assert.equal(text('a.txt'), 'one\n');
      const left = vscode.workspace.textDocuments.find((one) => one.uri.path === `${root.uri.path}/a.txt`);
      assert.equal(left?.getText(), 'one\n');
      assert.match(await refused(bench.call('write_file', { path: 'b.txt', content: 'x' })), /did not create .*b\.txt/);
      files.fault = undefined;
      assert.deepEqual([...files.files.keys()], [`${root.uri.path}/a.txt`]);
      give('c.txt', 'see\n');
      files.readOnly.add(`${root.uri.path}/c.txt`);
      assert.match(await refused(edit('c.txt', 'see', 'saw')), /c\.txt is read-only\. The user can make it writable\./);
      files.unreadable.add(`${root.uri.path}/c.txt`);
      assert.match(await refused(bench.call('read_file', { path: 'c.txt' })), /cannot be read: permission denied/);
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    });
  });

  it('of several folders are distinguished by folder name, also virtual ones and ones with the same name', async () => {
    const uris = [vscode.Uri.file('/first/app'), vscode.Uri.file('/other/app'), vscode.Uri.parse(`${SCHEME}:/far`)];
    const folders = uris.map((uri, index) => ({ uri, name: index === 2 ? 'far' : 'app', index }));
    for (const [path, absolute, said] of [
      ['app/x.ts', '/first/app/x.ts', 'app/x.ts'],
      ['x.ts', '/first/app/x.ts', 'app/x.ts'],
      ['app~2/x.ts', '/other/app/x.ts', 'app~2/x.ts'],
      ['/other/app/x.ts', '/other/app/x.ts', 'app~2/x.ts'],
      ['far/x.ts', `${SCHEME}:/far/x.ts`, 'far/x.ts'],
      [`${SCHEME}:/far/x.ts`, `${SCHEME}:/far/x.ts`, 'far/x.ts'],
    ] as const) {
      const resolved = await resolveIn(folders, path);
      assert.deepEqual(resolved, { ok: true, value: { path: said, absolute } });
    }
    for (const path of ['far/../x', `${SCHEME}:/near/x`, '/etc/passwd']) {
      const resolved = await resolveIn(folders, path);
      assert.equal(!resolved.ok && resolved.failure.code, 'outside');
    }
    assert.equal(toFilePath(vscode.Uri.file('/other/app/x.ts'), folders)?.path, 'app~2/x.ts');
    assert.equal(toFilePath(vscode.Uri.file('/etc/passwd'), folders), undefined);
  });
});
