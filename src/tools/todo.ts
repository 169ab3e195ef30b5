// The tool todo: the model's to-do list, which the chat shows.
import { TODO_TOOL } from '../base/toolLabels.ts';
import { type TodoItem, todoArguments } from '../protocol/todo.ts';
import { answer, defineTool } from './defineTool.ts';

export const todoTool = defineTool({
  name: TODO_TOOL,
  description:
    'Replaces your to-do list, which the user sees. For work of several steps: write all, set one to doing when you start it and to done when it is finished. Each call passes the complete list; an empty one removes it.',
  effect: 'read',
  traits: { guide: 'For work of several steps, keep the to-do list.', writesTodo: true },
  arguments: todoArguments,
  // The projection of the log reads the list from the call's arguments.
  run: async ({ items }) => answer(describeTodo(items)),
});

function describeTodo(items: readonly TodoItem[]): string {
  if (items.length === 0) return 'The list is empty.';
  const count = (state: TodoItem['state']) => items.filter((item) => item.state === state).length;
  return `Noted: ${count('done')} done, ${count('doing')} being done, ${count('open')} open.`;
}
