import { done, missed, T, unfinished } from './ending.ts';

export const SPANISH = [
  ...unfinished(
    [
      'denied',
      `No escribo ${T} porque fallan dos pruebas.`,
      `Todavía no: ${T}`,
      `El trabajo no está COMPLETE.`,
      `Decir ${T} ahora sería falso.`,
    ],
    [
      'to come',
      `Terminaré con ${T}`,
      `Mañana podré escribir ${T}.`,
      `Falta la documentación y después ${T}`,
      `En cuanto pase la integración diré ${T}.`,
    ],
    [
      'on a condition',
      `Si todo pasa, responderé: ${T}`,
      `Cuando acabe la migración, la última línea será:\n\n${T}`,
      `Solo después de la revisión del equipo escribiré\n${T}`,
    ],
    [
      'a question',
      `¿Debo escribir ${T}?`,
      `¿Está COMPLETE?`,
      `¿Puedo darlo por terminado? COMPLETE?`,
    ],
    [
      'quoted',
      `El encargo dice "${T}".`,
      `«${T}»`,
      `> ${T}\n\nEso es lo que se pide; aún no llego.`,
      `Usted escribió:\n> termine con\n${T}`,
    ],
    [
      'code',
      `La línea es \`${T}\`.`,
      `La línea es:\n\n     ${T}`,
      `~~~\n${T}\n~~~`,
      `Formato: \`\`\`xml\n${T}\n\`\`\``,
    ],
    [
      'a field',
      `Estado: pendiente, no COMPLETE`,
      `Fase 1: COMPLETE. Fase 2: en curso.`,
      `Meta: ${T}`,
    ],
    [
      'an abbreviation before it',
      `Una línea final, p. ej. ${T}`,
      `Falta lo demás, incl. ${T}`,
      `Véase pág. ${T}`,
      `Pruebas, documentos, etc. ${T}`,
    ],
    [
      'taken back behind it',
      `${T}\n\nEspere, una prueba sigue fallando.`,
      `${T}\n\nNota: el despliegue no se ha hecho.`,
      `Listo.\n\nCOMPLETE\n\nNo, faltan las traducciones.`,
    ],
    ['an open box behind it', `${T}\n\n[ ] actualizar el README`],
    ['a numbered line', `Queda: 1. pruebas 2. documentos 3. ${T}`],
    ['a list of states', `PENDIENTE\nEN CURSO\nCOMPLETE`],
    [
      'half a sentence',
      `Todavía no estoy en condiciones de afirmar que esté\n${T}`,
      `El estado de esta tarea no se puede considerar\nCOMPLETE`,
    ],
  ),
  ...done(
    [
      'on the last line',
      `Todas las pruebas pasan.\n\n${T}`,
      `He corregido el fallo y ampliado la documentación.\n\n__${T}__`,
      `¡Terminado!\n${T}`,
      `## Resumen\n* corregido\n* probado\n\n${T}`,
      `Nada pendiente.\n\n✔ ${T}`,
    ],
    [
      'behind a sentence',
      `Todo está hecho. ${T}`,
      `¡Ya funciona! ${T}`,
      `¿Falla algo? No. ${T}`,
      `La suite tardó 3 min. ${T}`,
      `Quedó resuelto con el plan B. ${T}`,
    ],
    [
      'bare',
      `La migración terminó.\n\nCOMPLETE`,
      `Todo comprobado.\nCOMPLETE.`,
      `# Final\n\n**COMPLETE**`,
      `¡Todo verde! 🎉\nCOMPLETE`,
    ],
    ['after a mention', `Me pidieron ${T} al final. Todo pasa.\n\n${T}`],
  ),
  ...missed(
    ['a summary behind it', `${T}\n\nResumen: tres archivos cambiados.`],
    ['a bare closing sentence', `Todas las pruebas pasan. COMPLETE`, `¡Listo todo! COMPLETE`],
    ['behind an exclamation mark upside down', `Todo pasa.\n\n¡${T}!`],
  ),
];
