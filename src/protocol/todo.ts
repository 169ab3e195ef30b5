// The to-do list that the model keeps: what its tool takes, and what the chat shows.
import * as z from 'zod';

const todoItemSchema = z.strictObject({
  text: z.string().min(1).max(500).describe('What is to be done, in a few words'),
  state: z.enum(['open', 'doing', 'done']),
});
export type TodoItem = z.infer<typeof todoItemSchema>;

export const todoArguments = {
  items: z.array(todoItemSchema).max(50).describe('The whole list, in order; it replaces the one before'),
};
export const todoArgumentsSchema = z.strictObject(todoArguments);
