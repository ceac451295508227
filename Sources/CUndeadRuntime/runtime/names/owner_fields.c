// The fields of deallocated owners. Nothing is left of such an object, but what captured it weakly knows its type, whose field descriptors
// show where it kept what should have been cancelled in its deinit. Only types are read, no values. Called while a snapshot is written.
#include "platform/memory/own_data.h"
#include "runtime/abi.h"
#include "runtime/metadata/memory_reader.h"
#include "runtime/names/naming.h"

enum { MOST_PARENTS = 64, MOST_OWNER_FIELDS = 256 };

static void visit_field(const undead_field *field, undead_owner_field *found, undead_owner_field_visitor visit, void *context) {
  if (!field->type || !field->name[0]) return;
  undead_text label = undead_text_in(found->label, sizeof found->label);
  undead_text type = undead_text_in(found->type, sizeof found->type);
  undead_text_add(&label, field->name);
  undead_add_type_name(&type, field->type);
  if (type.length) visit(context, found);
}

static void visit_owner(uintptr_t type, undead_owner_field_visitor visit, void *context) {
  undead_owner_field found = {0};
  const undead_fields *some = undead_type_kind(type) == ABI_KIND_OPTIONAL ? undead_fields_of(type) : NULL;
  if (some) type = some->count ? some->field[0].type : 0;
  undead_text owner = undead_text_in(found.owner, sizeof found.owner);
  undead_add_type_name(&owner, type);
  if (!owner.length) return;
  visit(context, &found);
  uint32_t count = 0;
  for (int depth = 0; depth < MOST_PARENTS && undead_type_kind(type) == ABI_KIND_CLASS; depth++) {
    const undead_fields *fields = undead_fields_of(type);
    for (uint32_t i = 0; i < fields->count && count < MOST_OWNER_FIELDS; i++, count++) visit_field(&fields->field[i], &found, visit, context);
    type = read_word(type + ABI_CLASS_SUPER);
  }
}

void undead_each_owner_field(const undead_node *closure, undead_owner_field_visitor visit, void *context) {
  if (closure->kind != UNDEAD_KIND_CONTEXT) return;
  const undead_fields *captures = undead_captures_in(closure->isa, closure->address);
  for (uint32_t i = 0; i < captures->count; i++) {
    const undead_field *capture = &captures->field[i];
    bool weak = capture->ownership == UNDEAD_WEAK || capture->ownership == UNDEAD_UNOWNED;
    if (weak && capture->type) visit_owner(capture->type, visit, context);
  }
}
