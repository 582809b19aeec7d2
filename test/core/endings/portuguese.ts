import { done, missed, T, unfinished } from './ending.ts';

export const PORTUGUESE = [
  ...unfinished(
    [
      'denied',
      `Não escrevo ${T} porque dois testes falham.`,
      `Nada de ${T} por enquanto.`,
      `O trabalho não está COMPLETE.`,
      `Dizer ${T} agora seria mentira.`,
    ],
    [
      'to come',
      `Vou terminar com ${T}`,
      `Amanhã poderei escrever ${T}.`,
      `Falta a documentação e depois ${T}`,
      `Assim que a build passar direi ${T}.`,
    ],
    [
      'on a condition',
      `Se tudo passar, responderei: ${T}`,
      `Quando a migração acabar, a última linha será:\n\n${T}`,
      `Só depois da revisão da equipe vou escrever\n${T}`,
    ],
    ['a question', `Devo escrever ${T}?`, `Está COMPLETE?`, `Posso dar por encerrado? COMPLETE?`],
    [
      'quoted',
      `O pedido diz "${T}".`,
      `‘${T}’`,
      `> ${T}\n\nÉ o que se pede; ainda não cheguei lá.`,
      `Você escreveu:\n> terminar com\n${T}`,
    ],
    [
      'code',
      `A linha é \`${T}\`.`,
      `A linha é:\n\n    ${T}`,
      `\`\`\`\n${T}\n\`\`\``,
      `Formato: \`\`\`text\n\n${T}`,
    ],
    ['a field', `Estado: ainda não COMPLETE`, `Fase 1 COMPLETE, fase 2 aberta`, `Meta: ${T}`],
    [
      'an abbreviation before it',
      `Uma linha final, p. ex. ${T}`,
      `Testes, documentos, etc. ${T}`,
      `Ver a regra, cf. ${T}`,
      `Falta o resto, obs. ${T}`,
    ],
    [
      'taken back behind it',
      `${T}\n\nEspere, um teste ainda falha.`,
      `${T}\n\nNota: a publicação não foi feita.`,
      `Pronto.\n\nCOMPLETE\n\nNão, faltam as traduções.`,
    ],
    ['an open box behind it', `${T}\n\n• [ ] atualizar o README`],
    ['a numbered line', `Resta: 1. testes 2. documentos 3. ${T}`],
    ['a list of states', `A FAZER\nEM CURSO\nCOMPLETE`],
    [
      'half a sentence',
      `Ainda não estou em condições de afirmar que o trabalho está\n${T}`,
      `O estado desta tarefa ainda não pode ser dado como\nCOMPLETE`,
    ],
  ),
  ...done(
    [
      'on the last line',
      `Todos os testes passam.\n\n${T}`,
      `Corrigi o erro e atualizei o guia.\n\n**${T}.**`,
      `Acabou!\n${T}`,
      `## Resumo\n1. corrigido\n2. testado\n\n${T}`,
      `Nada pendente.\n\n🚀 ${T}`,
    ],
    [
      'behind a sentence',
      `Está tudo feito. ${T}`,
      `Funciona! ${T}`,
      `Algo falha? Não. ${T}`,
      `A suíte levou 2 min. ${T}`,
      `Resolvido com o plano B. ${T}`,
    ],
    [
      'bare',
      `A migração terminou.\n\nCOMPLETE`,
      `Tudo verificado.\nCOMPLETE.`,
      `# Fim\n\nCOMPLETE!`,
      `Entregue. 🎉\n\nCOMPLETE`,
    ],
    ['after a mention', `Pediram ${T} no fim. Tudo passa.\n\n${T}`],
  ),
  ...missed(
    ['a summary behind it', `${T}\n\nResumo: três arquivos alterados.`],
    ['a bare closing sentence', `Todos os testes passam. COMPLETE`, `Acabou tudo! COMPLETE`],
    ['as a heading', `Tudo passa.\n\n## ${T}`],
  ),
];
