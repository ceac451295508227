// Every number about the layout of the Swift runtime's data, 64-bit, without Objective-C. Names in comments are of the
// runtime's headers (include/swift/ABI); all of it was seen on Swift 6.3.1 x86-64 Linux and is checked by RuntimeFactsTests,
// NumberFactsTests, RuntimeNamingTests and EvidenceTests.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum {
  // MetadataKind.def, MetadataValues.h: MetadataKind.
  ABI_KIND_CLASS = 0,
  ABI_KIND_STRUCT = 0x200,
  ABI_KIND_ENUM = 0x201,
  ABI_KIND_OPTIONAL = 0x202,
  ABI_KIND_TUPLE = 0x301,
  ABI_KIND_FUNCTION = 0x302,
  ABI_KIND_EXISTENTIAL = 0x303,
  ABI_KIND_EXTENDED_EXISTENTIAL = 0x307,
  ABI_KIND_FIXED_ARRAY = 0x308,
  ABI_KIND_HEAP_LOCAL_VARIABLE = 0x400,
  ABI_KIND_HEAP_GENERIC_LOCAL_VARIABLE = 0x500,
  ABI_KIND_ERROR_OBJECT = 0x501,
  ABI_KIND_TASK = 0x502,
  ABI_KIND_JOB = 0x503,

  // Metadata.h: TargetHeapMetadataHeader, in front of the address point.
  ABI_METADATA_DESTROY = -16,
  ABI_METADATA_VALUE_WITNESSES = -8,

  // Metadata.h: TargetClassMetadata.
  ABI_CLASS_SUPER = 8,
  ABI_CLASS_ADDRESS_POINT = 20,    // InstanceAddressPoint, u32
  ABI_CLASS_INSTANCE_SIZE = 24,    // u32
  ABI_CLASS_ALIGN_MASK = 28,       // u16
  ABI_CLASS_SIZE = 32,             // of the metadata, u32
  ABI_CLASS_CLASS_ADDRESS_POINT = 36,
  ABI_CLASS_DESCRIPTOR = 40,
  ABI_CLASS_HEADER_BYTES = 56,

  // Metadata.h: TargetValueMetadata, TargetTupleTypeMetadata, TargetExistentialTypeMetadata...
  ABI_VALUE_DESCRIPTOR = 8,
  ABI_VALUE_GENERIC_ARGUMENTS = 16,
  ABI_TUPLE_COUNT = 8,
  ABI_TUPLE_LABELS = 16,
  ABI_TUPLE_ELEMENTS = 24,
  ABI_TUPLE_ELEMENT_BYTES = 16,    // {type, offset}
  ABI_EXISTENTIAL_FLAGS = 8,       // ExistentialTypeFlags, u32
  ABI_EXTENDED_EXISTENTIAL_SHAPE = 8,
  ABI_FIXED_ARRAY_COUNT = 8,
  ABI_FIXED_ARRAY_ELEMENT = 16,
  ABI_FUNCTION_FLAGS = 8,          // FunctionTypeFlags

  // Metadata.h: TargetHeapLocalVariableMetadata, GenericBoxHeapMetadata (Heap.cpp).
  ABI_CONTEXT_FIRST_CAPTURE = 8,   // u32
  ABI_CONTEXT_CAPTURES = 16,       // CaptureDescriptor, may be null
  ABI_BOX_VALUE_OFFSET = 8,        // u32
  ABI_BOX_TYPE = 16,

  // RemoteInspection/Records.h: CaptureDescriptor.
  ABI_CAPTURES_TYPE_COUNT = 0,
  ABI_CAPTURES_SOURCE_COUNT = 4,
  ABI_CAPTURES_BINDING_COUNT = ABI_CAPTURES_SOURCE_COUNT + 4,   // three numbers in a row
  ABI_CAPTURES_TYPES = 12,         // relative pointers to mangled names

  // ErrorObject.h: SwiftError.
  ABI_ERROR_TYPE = 16,
  ABI_ERROR_VALUE = 32,            // then aligned for the type

  // HeapObject.h.
  ABI_OBJECT_REFCOUNT = 8,
  ABI_OBJECT_HEADER = 16,

  // RefCount.h: HeapObjectSideTableEntry: the object, padding, its counts.
  ABI_SIDE_TABLE_COUNTS = 16,
  ABI_SIDE_TABLE_WEAK = 24,        // weak references, u32; one is for the object

  // ValueWitness.def.
  ABI_WITNESS_STORE_TAG = 56,      // storeEnumTagSinglePayload
  ABI_WITNESS_SIZE = 64,
  ABI_WITNESS_STRIDE = 72,
  ABI_WITNESS_FLAGS = 80,          // u32
  ABI_WITNESS_EXTRA_INHABITANTS = 84,   // u32
  ABI_WITNESS_BYTES = ABI_WITNESS_EXTRA_INHABITANTS + 4,   // of all types; those of enums have more
  ABI_WITNESS_GET_ENUM_TAG = 88,
  ABI_WITNESS_PROJECT_ENUM = 96,
  ABI_WITNESS_INJECT_TAG = 104,    // destructiveInjectEnumTag

  // MetadataValues.h: ContextDescriptorFlags; Metadata.h: TargetContextDescriptor and its heirs.
  ABI_CONTEXT_KIND_MASK = 0x1F,
  ABI_CONTEXT_MODULE = 0,
  ABI_CONTEXT_PROTOCOL = 3,
  ABI_CONTEXT_CLASS = 16,
  ABI_CONTEXT_STRUCT = 17,
  ABI_CONTEXT_ENUM = 18,
  ABI_CONTEXT_GENERIC = 0x80,
  ABI_CONTEXT_RESILIENT_SUPERCLASS = 1 << 29,  // TypeContextDescriptorFlags::Class_HasResilientSuperclass
  ABI_DESCRIPTOR_PARENT = 4,
  ABI_DESCRIPTOR_NAME = 8,
  ABI_DESCRIPTOR_ACCESS = 12,                  // MetadataAccessFunction: takes a request (0: complete), yields the type
  ABI_DESCRIPTOR_FIELDS = 16,
  ABI_CLASS_DESCRIPTOR_BOUNDS = 24,            // negative size in words, or the resilient bounds
  ABI_CLASS_DESCRIPTOR_POSITIVE = 28,          // MetadataPositiveSizeInWords
  ABI_CLASS_DESCRIPTOR_MEMBERS = 32,           // NumImmediateMembers
  ABI_CLASS_DESCRIPTOR_FIELD_COUNT = 36,
  ABI_CLASS_DESCRIPTOR_FIELD_VECTOR = 40,      // FieldOffsetVectorOffset, words
  ABI_CLASS_DESCRIPTOR_BYTES = ABI_CLASS_DESCRIPTOR_FIELD_VECTOR + 4,
  ABI_STRUCT_DESCRIPTOR_FIELD_COUNT = 20,
  ABI_STRUCT_DESCRIPTOR_FIELD_VECTOR = 24,     // FieldOffsetVectorOffset, words, of u32
  ABI_VALUE_DESCRIPTOR_PARAMETERS = 36,        // u16; of generic structs and enums, as the next one (GenericContextDescriptorHeader)
  ABI_VALUE_DESCRIPTOR_KEY_ARGUMENTS = 40,     // u16: types and witness tables that the access function takes
  ABI_ENUM_DESCRIPTOR_PAYLOAD_CASES = 20,      // NumPayloadCasesAndPayloadSizeOffset, lower 24 bits
  ABI_ENUM_PAYLOAD_CASES_MASK = 0x00FFFFFF,
  ABI_ENUM_DESCRIPTOR_EMPTY_CASES = 24,

  // RemoteInspection/Records.h: FieldDescriptor, FieldRecord.
  ABI_FIELDS_COUNT = 12,
  ABI_FIELDS_RECORDS = ABI_FIELDS_COUNT + 4,
  ABI_FIELD_RECORD_BYTES = 12,
  ABI_FIELD_RECORD_FLAGS = 0,
  ABI_FIELD_RECORD_TYPE = 4,
  ABI_FIELD_RECORD_NAME = 8,
  ABI_FIELD_INDIRECT_CASE = 1,

  // ContiguousArrayBuffer.swift: __ContiguousArrayStorageBase. Elements follow, aligned for their type.
  ABI_ARRAY_COUNT = 16,
  ABI_ARRAY_CAPACITY = 24,         // _capacityAndFlags: the flag is the lowest bit
  ABI_ARRAY_ELEMENTS = ABI_ARRAY_CAPACITY + 8,

  // CheckedContinuation.swift: CheckedContinuationCanary, behind the header.
  ABI_CANARY_CONTINUATION = ABI_OBJECT_HEADER,

  // StringStorage.swift: __StringStorage. Code units follow; behind them, if the flag says so, the breadcrumbs.
  ABI_STRING_CAPACITY = 16,        // CapacityAndFlags
  ABI_STRING_COUNT = 24,           // CountAndFlags, in bytes
  ABI_STRING_CODE_UNITS = ABI_STRING_COUNT + 8,

  // DictionaryStorage.swift, SetStorage.swift: __RawDictionaryStorage, __RawSetStorage.
  ABI_HASH_COUNT = 16,
  ABI_HASH_CAPACITY = 24,
  ABI_HASH_SCALE = 32,             // i8: 1 << scale buckets
  ABI_DICTIONARY_KEYS = 48,        // address of the first key
  ABI_DICTIONARY_VALUES = 56,
  ABI_DICTIONARY_HEADER = ABI_DICTIONARY_VALUES + 8,
  ABI_SET_ELEMENTS = 48,
  ABI_SET_HEADER = ABI_SET_ELEMENTS + 8,

  // FoundationEssentials, Representations/DataStorage.swift: __DataStorage, in bytes.
  ABI_DATA_LENGTH = 24,
  ABI_DATA_CAPACITY = ABI_DATA_LENGTH + 8,
  // Data._Representation (Representations/Data+Representation.swift): the case in the top bits of the second word, of which
  // these two refer to the storage.
  ABI_DATA_TAG_SHIFT = 62,
  ABI_DATA_SLICE = 1,
  ABI_DATA_LARGE = ABI_DATA_SLICE + 1,

  // CFRuntime.h (Foundation): CFRuntimeBase; the type id of an object is in bits 8 to 23 of the third word.
  ABI_CF_INFO = 16,
  ABI_CF_TYPE_SHIFT = 8,
  ABI_CF_TYPE_MASK = 0xFFFF,
  ABI_CF_CLASS_NAME = 8,           // CFRuntimeClass.className
  ABI_CF_TIMER_INFO = 144,         // CFRunLoop.c: __CFRunLoopTimer, _context.info
  ABI_CF_TIMER_INTERVAL = ABI_CF_TIMER_INFO - 48,   // _interval, a double: 0 for what fires once
  ABI_CF_TIMER_LOOP = ABI_CF_TIMER_INFO - 72,       // _runLoop: none before it is scheduled, and after it was invalidated

  // ABI/Task.h and TaskPrivate.h: AsyncTask.
  ABI_TASK_FLAGS = 32,          // u32, JobFlags
  ABI_TASK_PRIORITY_SHIFT = 8,
  ABI_TASK_IS_CHILD_BIT = ABI_TASK_PRIORITY_SHIFT + 16,
  ABI_TASK_RESUME_FUNCTION = 56,
  ABI_TASK_RESUME_CONTEXT = 64,
  ABI_TASK_STATUS = 96,         // u32, the flags of ActiveTaskStatus
  ABI_TASK_STATUS_SHIFT = 8,    // of what they say beside the priority
  ABI_TASK_RUNNING = 8,         // so shifted: it runs, and nothing else is true of it
  ABI_TASK_ENQUEUED = ABI_TASK_RUNNING << 1,
  ABI_TASK_COMPLETE = ABI_TASK_RUNNING << 2,
  ABI_TASK_FIRST_SLAB = 0x78,   // of its allocator, in the block of the task itself
  // Private storage behind the allocator: TaskLocal::Storage, the id's upper half, the base priority, the record of what it waits for.
  ABI_TASK_RECORDS = ABI_TASK_STATUS + 8,
  ABI_TASK_ID = ABI_TASK_FLAGS + 4,       // u32, Job::Id: ascending
  ABI_TASK_DEPENDENCY = ABI_TASK_FIRST_SLAB + 0x28,
  ABI_TASK_IS_GROUP_CHILD_BIT = ABI_TASK_IS_CHILD_BIT + 2,
  ABI_TASK_IS_ASYNC_LET_BIT = ABI_TASK_IS_CHILD_BIT + 4,
  // ChildFragment, GroupChildFragment, behind the task.
  ABI_TASK_PARENT = ABI_TASK_FIRST_SLAB + 0x58,
  ABI_TASK_NEXT_CHILD = ABI_TASK_PARENT + 8,
  ABI_TASK_GROUP = ABI_TASK_NEXT_CHILD + 8,
  // ABI/TaskStatus.h: TaskStatusRecord and what is derived from it. A group is one behind its first word.
  ABI_RECORD_NEXT = 8,
  ABI_RECORD_CONTENTS = 16,     // first child; name; of a dependency what is waited for
  ABI_RECORD_CANCELLATION = 3,
  ABI_RECORD_CHILDREN = ABI_RECORD_CANCELLATION - 2,
  ABI_RECORD_GROUP = ABI_RECORD_CANCELLATION - 1,
  ABI_RECORD_NAME = ABI_RECORD_CANCELLATION + 3,
  ABI_DEPENDENCY_KIND = ABI_RECORD_CONTENTS + 16,      // u32
  ABI_DEPENDENCY_TASK = ABI_DEPENDENCY_KIND + 8,       // that waits
  ABI_GROUP_RECORD = ABI_RECORD_NEXT,                  // one word
  ABI_TASK_MOST_BYTES = ABI_TASK_FIRST_SLAB + 0x108,   // that a task and its fragments take

  // libdispatch, event_internal.h: dispatch_unote_linkage_s, in front of the unotes that have one.
  ABI_UNOTE_LINKAGE_BYTES = 24,
  // dispatch_unote_class_s: du_owner_wref, the complement of the address of the source.
  ABI_UNOTE_OWNER = 8,
  ABI_UNOTE_IDENT = 24,            // du_ident, u32: of sources on descriptors, the descriptor

  // libdispatch, queue_internal.h and source_internal.h: dispatch_source_s.
  ABI_SOURCE_FLAGS = 80,           // u32: dq_atomic_flags
  ABI_SOURCE_REFS = 88,            // ds_refs
  ABI_SOURCE_CANCELLED = 0x10000000,   // DSF_CANCELED
  // dispatch_source_refs_s: ds_handler, of events, of cancellation, of registration.
  ABI_SOURCE_HANDLERS = 40,
  ABI_SOURCE_HANDLER_COUNT = 3,
  // dispatch_timer_source_refs_s: dt_timer: when it fires (the deadline behind that is later by the leeway), and its interval; one that
  // does not repeat has the largest number for an interval.
  ABI_TIMER_TARGET = ABI_SOURCE_HANDLERS + 40,
  ABI_TIMER_INTERVAL = ABI_TIMER_TARGET + 16,

  // libdispatch, io_internal.h: dispatch_io_s; dispatch_fd_entry_s begins with the descriptor.
  ABI_IO_ENTRY = ABI_SOURCE_REFS + 24,      // fd_entry: each use holds it against
  ABI_IO_DESCRIPTOR = ABI_IO_ENTRY + 12,    // fd, i32

  // libdispatch, shims/tsd.h: struct dispatch_tsd, a thread's own data.
  ABI_TSD_TID = 0,                 // u32
  ABI_TSD_QUEUE = 8,
  ABI_TSD_CACHE = 0x18,            // recycled continuations
  ABI_TSD_BYTES = ABI_TSD_CACHE + 8,

  // libdispatch, queue_internal.h: dispatch_continuation_s.
  ABI_CONTINUATION_COUNT = 8,      // dc_cache_cnt, int: of a recycled one and those behind it
  ABI_CONTINUATION_NEXT = 0x10,
  ABI_CONTINUATION_FUNCTION = 0x20,
  ABI_CONTINUATION_DATA = ABI_CONTINUATION_FUNCTION + 16,   // behind the context
  ABI_CONTINUATION_OTHER = ABI_CONTINUATION_DATA + 8,
  ABI_CONTINUATION_BYTES = ABI_CONTINUATION_OTHER + 8,
  // Of its flags, its first word unless that is the address of a class.
  ABI_CONTINUATION_ALLOCATED = 0x100,

  // ABI/Task.h: AsyncContext.
  ABI_ASYNC_CONTEXT_PARENT = 0,
  ABI_ASYNC_CONTEXT_RESUME = 8,

  // StackAllocator.h: Slab.
  ABI_SLAB_NEXT = 8,
  ABI_SLAB_CAPACITY = 16,          // u32
  ABI_SLAB_USED = 20,              // u32
  ABI_SLAB_HEADER = 32,

  // Metadata.h: what follows a TargetClassDescriptor, in this order: TypeGenericContextDescriptorHeader, resilient
  // superclass, metadata initialisation, TargetVTableDescriptorHeader with its TargetMethodDescriptors.
  ABI_GENERIC_HEADER_PARAMETERS = 8,   // u16 each
  ABI_GENERIC_HEADER_REQUIREMENTS = 10,
  ABI_GENERIC_HEADER_FLAGS = 14,
  ABI_GENERIC_HEADER_BYTES = 16,       // then a byte for each parameter, padded to 4
  ABI_GENERIC_REQUIREMENT_BYTES = 12,
  ABI_GENERIC_HAS_PACKS = 1,           // GenericContextDescriptorFlags
  ABI_GENERIC_HAS_VALUES = 4,
  ABI_PACK_HEADER_BYTES = 4,           // u16 number of packs, u16 number of shape classes
  ABI_PACK_BYTES = 8,
  ABI_VALUE_HEADER_BYTES = 4,          // u32 number of values
  ABI_VALUE_BYTES = 4,
  ABI_RESILIENT_SUPERCLASS_BYTES = 4,
  ABI_INITIALIZATION_SHIFT = 16,       // TypeContextDescriptorFlags::MetadataInitialization
  ABI_INITIALIZATION_MASK = 3,
  ABI_SINGLETON_INITIALIZATION = 1,
  ABI_SINGLETON_INITIALIZATION_BYTES = 12,
  ABI_VTABLE_OFFSET = 0,               // u32, words
  ABI_VTABLE_COUNT = 4,                // u32
  ABI_VTABLE_HEADER_BYTES = 8,
  ABI_METHOD_FUNCTION = 4,             // behind u32 flags, relative pointer to the function
  ABI_METHOD_BYTES = ABI_METHOD_FUNCTION + 4,

  // MetadataValues.h: MethodDescriptorFlags.
  ABI_METHOD_KIND_MASK = 0x0F,
  ABI_METHOD_KIND_INITIALIZER = 1,
  ABI_METHOD_KIND_GETTER = ABI_METHOD_KIND_INITIALIZER + 1,
  ABI_METHOD_KIND_READ = ABI_METHOD_KIND_GETTER + 3,   // behind setter and modify
  ABI_METHOD_IS_DATA = 0x40,       // the slot leads to a record: async, or a coroutine whose caller makes the frame
};
#define ABI_CONTEXT_HAS_VTABLE 0x80000000u   // TypeContextDescriptorFlags::Class_HasVTable

// Block_private.h (libdispatch): Block_layout. Compiled into all code that has blocks (Block-ABI-Apple), so none of it can move.
typedef struct {
  const void *isa;
  uint32_t flags, reserved;
  void *invoke, *descriptor;
} undead_c_block;
#define ABI_BLOCK_FLAGS offsetof(undead_c_block, flags)
#define ABI_BLOCK_HEADER sizeof(undead_c_block)
#define ABI_BLOCK_COUNT_MASK 0xFFFE   // BLOCK_REFCOUNT_MASK: each reference is 2

// Block_private.h: Block_descriptor_1 and Block_descriptor_2. Without helpers, text stands in the place of the first.
typedef struct {
  uintptr_t reserved, size;
  void *copy, *dispose;
} undead_c_block_descriptor;

// queue_internal.h (libdispatch): dispatch_block_private_data_s, what a block of dispatch_block_create has behind its header.
typedef struct {
  unsigned long magic, flags;
  unsigned int atomic_flags;
  int performed;
  unsigned long priority;
  void *voucher, *block;   // a copy of the block, and counted
} undead_dispatch_block_data;
#define ABI_DISPATCH_BLOCK_MAGIC 0xD159B10Cu

// MetadataValues.h: TargetValueWitnessFlags.
#define ABI_WITNESS_NON_INLINE 0x00020000u
#define ABI_WITNESS_HAS_ENUM 0x00200000u
#define ABI_WITNESS_ALIGN_MASK 0x000000FFu

// StringStorage.swift: __StringStorage.CapacityAndFlags.
#define ABI_STRING_HAS_BREADCRUMBS (1ull << 63)
#define ABI_STRING_CAPACITY_MASK 0x0000FFFFFFFFFFFFull

// MetadataValues.h: ExistentialTypeFlags. A set bit 31 means that values of any kind conform, not only classes.
#define ABI_EXISTENTIAL_NOT_CLASS 0x80000000u
#define ABI_EXISTENTIAL_SPECIAL_MASK 0x3F000000u
#define ABI_EXISTENTIAL_ERROR 0x01000000u

// MetadataValues.h: FunctionTypeFlags. Of convention 0, Swift's own, which has a context.
#define ABI_FUNCTION_CONVENTION_MASK 0x00FF0000u
#define ABI_FUNCTION_CONVENTION_BLOCK 0x00010000u
#define ABI_FUNCTION_ESCAPING 0x04000000u
#define ABI_FUNCTION_DIFFERENTIABLE 0x08000000u

// MetadataValues.h: ExtendedExistentialTypeShapeFlags, special kind.
#define ABI_SHAPE_KIND_MASK 0xFFu
#define ABI_SHAPE_OPAQUE 0u
#define ABI_SHAPE_CLASS 1u
#define ABI_SHAPE_METATYPE 2u
// Metadata.h: TargetExtendedExistentialTypeShape. The header of its requirement signature (GenericContextDescriptorHeader): u16
// numbers of parameters, requirements, arguments (parameters and witness tables); TargetNonUniqueExtendedExistentialTypeShape.
#define ABI_SHAPE_PARAMETERS 8u
#define ABI_NONUNIQUE_SHAPE 4u   // a cache stands before the shape

// Existentials: three words of buffer (a boxed value when it does not fit), the type, the witness tables.
#define ABI_EXISTENTIAL_BUFFER_BYTES 24u
#define ABI_EXISTENTIAL_TYPE 24u

// GenericContext.h: GenericParamDescriptor of a type parameter with a metadata argument.
#define ABI_GENERIC_PARAMETER_KEY_TYPE 0x80

// RefCount.h: RefCountBitOffsets<8>, RefCountBitsT.
#define ABI_REFCOUNT_NEW 3ull                    // one unowned, no extra strong reference, never destroyed otherwise
#define ABI_REFCOUNT_UNOWNED_SHIFT 1
#define ABI_REFCOUNT_UNOWNED_MASK 0x7FFFFFFFull
#define ABI_REFCOUNT_EXTRA_SHIFT 33
#define ABI_REFCOUNT_EXTRA_MASK 0x3FFFFFFFull
#define ABI_REFCOUNT_DEINITING (1ull << 32)
#define ABI_REFCOUNT_DEAD (ABI_REFCOUNT_NEW | ABI_REFCOUNT_DEINITING)
#define ABI_REFCOUNT_SIDE_TABLE_SCALE 3   // the address is the word without its two marks, times 8
#define ABI_REFCOUNT_SIDE_TABLE_SHIFT 62
#define ABI_REFCOUNT_SIDE_TABLE_TOP 3u   // UseSlowRC and SideTableMark

// Demangling: control characters are followed by a relative pointer (Demangler.cpp), with few exceptions that no image has.
#define ABI_SYMBOLIC_DIRECT_CONTEXT 0x01
#define ABI_SYMBOLIC_INDIRECT_CONTEXT 0x02
// Function that makes the metadata. Fields of noncopyable types are described so, and yield () as long as the runtime
// cannot reflect them.
#define ABI_SYMBOLIC_ACCESSOR 0x09
#define ABI_SYMBOLIC_EXISTENTIAL_SHAPE 0x0A         // of any P<X>; the other one is not unique
#define ABI_SYMBOLIC_NONUNIQUE_EXISTENTIAL_SHAPE 0x0B

// Of a kind that was read. A build for tests moves one of them here (scripts/check/drift), since they are also labels of cases.
#ifndef ABI_KIND_READ
#define ABI_KIND_READ(word) (word)
#endif
