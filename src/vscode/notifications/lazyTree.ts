// A tree view that exists from activation on and loads its content when it is first shown.
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';

export interface TreeContent<Node> {
  readonly onDidChangeTreeData: vscode.Event<undefined>;
  getChildren(node?: Node): Node[];
  getTreeItem(node: Node): vscode.TreeItem;
}

export class LazyTree<Node> implements vscode.TreeDataProvider<Node>, Disposable {
  readonly #held = new DisposableStore();
  readonly #onDidChange = new vscode.EventEmitter<undefined>();
  readonly view: vscode.TreeView<Node>;
  readonly #load: () => void;
  #content: TreeContent<Node> | undefined;

  /** `load` must lead to a call of `attach` later. */
  constructor(id: string, load: () => void) {
    this.#load = load;
    this.view = vscode.window.createTreeView<Node>(id, { treeDataProvider: this });
    this.#held.add(this.view);
    this.#held.add(this.#onDidChange);
  }

  readonly onDidChangeTreeData = this.#onDidChange.event;

  attach(content: TreeContent<Node>): Disposable {
    this.#content = content;
    return content.onDidChangeTreeData(() => this.#onDidChange.fire(undefined));
  }

  getChildren(node?: Node): Node[] {
    if (this.#content === undefined) this.#load();
    return this.#content?.getChildren(node) ?? [];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return this.#content?.getTreeItem(node) ?? new vscode.TreeItem('');
  }

  dispose(): void {
    this.#held.dispose();
  }
}
