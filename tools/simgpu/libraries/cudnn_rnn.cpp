// cuDNN: recurrent networks. Sizes are read by the host, and so is the layout of the packed
// weights. Ours: for each pseudo layer (layer and direction) first all matrices, then all biases.

#include <cstddef>
#include <cstdint>

#include "tools/simgpu/libraries/common/export.h"
#include "tools/simgpu/libraries/common/stand_in.h"
#include "tools/simgpu/libraries/cudnn_facts.h"

using namespace simgpu::libraries::cudnn;
using simgpu::libraries::Object;

SIMGPU_EXPORT int cudnnSetTensorNdDescriptor(void* descriptor, int data_type, int count,
                                             const int* dimensions, const int* strides);

namespace {

// cudnn_adv.h
constexpr int kLstm = 2;
constexpr int kGru = 3;
constexpr int kBidirectional = 1;
constexpr int kNoBias = 0;
constexpr int kTraining = 1;

struct RnnDescriptor : Object {
  int data_type = kFloat;
  int gates = 1;
  int directions = 1;
  int input_size = 0;
  int hidden_size = 0;
  int output_size = 0;  // of the projection, else the hidden size
  int layers = 0;
  bool has_bias = false;

  bool has_projection() const { return output_size != hidden_size; }
  int pseudo_layers() const { return layers * directions; }
  /// One matrix for each gate and input, one for each gate and previous output, the projection.
  int linear_layers() const { return 2 * gates + (has_projection() ? 1 : 0); }
};

struct RnnDataDescriptor : Object {
  int sequence_length = 0;
  int batch_size = 0;
};

RnnDescriptor* as_rnn(void* descriptor) {
  return static_cast<RnnDescriptor*>(static_cast<Object*>(descriptor));
}

RnnDataDescriptor* as_data(void* descriptor) {
  return static_cast<RnnDataDescriptor*>(static_cast<Object*>(descriptor));
}

size_t element_bytes(int data_type) {
  switch (data_type) {
    case kDouble:
      return 8;
    case kFloat:
      return 4;
    default:  // half, bfloat16
      return 2;
  }
}

struct Shape {
  int rows = 0;
  int columns = 0;

  size_t elements() const { return static_cast<size_t>(rows) * columns; }
};

Shape matrix_shape(const RnnDescriptor& rnn, int pseudo_layer, int linear_layer) {
  const bool first_layer = pseudo_layer < rnn.directions;
  const int layer_input = first_layer ? rnn.input_size : rnn.output_size * rnn.directions;
  if (linear_layer < rnn.gates) return {rnn.hidden_size, layer_input};
  if (linear_layer < 2 * rnn.gates) return {rnn.hidden_size, rnn.output_size};
  return {rnn.output_size, rnn.hidden_size};
}

/// The projection has no bias.
Shape bias_shape(const RnnDescriptor& rnn, int linear_layer) {
  if (!rnn.has_bias || linear_layer >= 2 * rnn.gates) return {};
  return {rnn.hidden_size, 1};
}

size_t matrices_elements(const RnnDescriptor& rnn, int pseudo_layer, int linear_layers) {
  size_t elements = 0;
  for (int i = 0; i < linear_layers; ++i) {
    elements += matrix_shape(rnn, pseudo_layer, i).elements();
  }
  return elements;
}

size_t biases_elements(const RnnDescriptor& rnn, int linear_layers) {
  size_t elements = 0;
  for (int i = 0; i < linear_layers; ++i) elements += bias_shape(rnn, i).elements();
  return elements;
}

/// Elements of the first `count` pseudo layers.
size_t pseudo_layers_elements(const RnnDescriptor& rnn, int count) {
  size_t elements = 0;
  for (int i = 0; i < count; ++i) {
    elements += matrices_elements(rnn, i, rnn.linear_layers());
    elements += biases_elements(rnn, rnn.linear_layers());
  }
  return elements;
}

/// Describes one matrix or bias; a tensor without dimensions and no address where there is none.
void describe(const RnnDescriptor& rnn, const Shape& shape, const void* weights,
              size_t offset_elements, void* descriptor, void** address) {
  const bool present = shape.elements() > 0;
  const int dimensions[] = {1, shape.rows, shape.columns};
  const int strides[] = {shape.rows * shape.columns, shape.columns, 1};
  if (descriptor != nullptr) {
    cudnnSetTensorNdDescriptor(descriptor, rnn.data_type, present ? 3 : 0, dimensions, strides);
  }
  if (address == nullptr) return;
  const size_t offset_bytes = offset_elements * element_bytes(rnn.data_type);
  *address = present ? static_cast<char*>(const_cast<void*>(weights)) + offset_bytes : nullptr;
}

}  // namespace

SIMGPU_EXPORT int cudnnCreateRNNDescriptor(Object** descriptor) {
  *descriptor = new RnnDescriptor;
  return kSuccess;
}

SIMGPU_EXPORT int cudnnSetRNNDescriptor_v8(void* descriptor, int, int cell_mode, int bias_mode,
                                           int direction_mode, int, int data_type, int, int,
                                           int32_t input_size, int32_t hidden_size,
                                           int32_t projection_size, int32_t layers, void*,
                                           uint32_t) {
  RnnDescriptor* rnn = as_rnn(descriptor);
  rnn->data_type = data_type;
  rnn->gates = cell_mode == kLstm ? 4 : cell_mode == kGru ? 3 : 1;
  rnn->directions = direction_mode == kBidirectional ? 2 : 1;
  rnn->input_size = input_size;
  rnn->hidden_size = hidden_size;
  rnn->output_size = projection_size != 0 ? projection_size : hidden_size;
  rnn->layers = layers;
  rnn->has_bias = bias_mode != kNoBias;
  return kSuccess;
}

SIMGPU_EXPORT int cudnnCreateRNNDataDescriptor(Object** descriptor) {
  *descriptor = new RnnDataDescriptor;
  return kSuccess;
}

SIMGPU_EXPORT int cudnnSetRNNDataDescriptor(void* descriptor, int, int, int sequence_length,
                                            int batch_size, int, const int*, void*) {
  as_data(descriptor)->sequence_length = sequence_length;
  as_data(descriptor)->batch_size = batch_size;
  return kSuccess;
}

SIMGPU_EXPORT int cudnnGetRNNWeightSpaceSize(void*, void* descriptor, size_t* size_bytes) {
  const RnnDescriptor& rnn = *as_rnn(descriptor);
  *size_bytes = pseudo_layers_elements(rnn, rnn.pseudo_layers()) * element_bytes(rnn.data_type);
  return kSuccess;
}

SIMGPU_EXPORT int cudnnGetRNNWeightParams(void*, void* descriptor, int32_t pseudo_layer, size_t,
                                          const void* weights, int32_t linear_layer,
                                          void* matrix_descriptor, void** matrix_address,
                                          void* bias_descriptor, void** bias_address) {
  const RnnDescriptor& rnn = *as_rnn(descriptor);
  if (pseudo_layer < 0 || pseudo_layer >= rnn.pseudo_layers() || linear_layer < 0) {
    return kBadParameter;
  }
  // A network without projection is asked for it too, and has none.
  const bool exists = linear_layer < rnn.linear_layers();
  const Shape matrix = exists ? matrix_shape(rnn, pseudo_layer, linear_layer) : Shape{};
  const Shape bias = exists ? bias_shape(rnn, linear_layer) : Shape{};
  const size_t start = pseudo_layers_elements(rnn, pseudo_layer);
  const size_t matrix_offset = start + matrices_elements(rnn, pseudo_layer, linear_layer);
  const size_t bias_offset = start + matrices_elements(rnn, pseudo_layer, rnn.linear_layers()) +
                             biases_elements(rnn, linear_layer);
  describe(rnn, matrix, weights, matrix_offset, matrix_descriptor, matrix_address);
  describe(rnn, bias, weights, bias_offset, bias_descriptor, bias_address);
  return kSuccess;
}

/// An estimate: the values of all gates of one layer as workspace; for the backward pass, those of
/// all layers and their cell states. The real sizes depend on the algorithm and are not published.
SIMGPU_EXPORT int cudnnGetRNNTempSpaceSizes(void*, void* descriptor, int forward_mode,
                                            void* data_descriptor, size_t* workspace_bytes,
                                            size_t* reserve_bytes) {
  const RnnDescriptor& rnn = *as_rnn(descriptor);
  const RnnDataDescriptor& data = *as_data(data_descriptor);
  const size_t values_of_one_gate = static_cast<size_t>(data.sequence_length) * data.batch_size *
                                    rnn.hidden_size * rnn.directions * element_bytes(rnn.data_type);
  if (workspace_bytes != nullptr) *workspace_bytes = values_of_one_gate * rnn.gates;
  if (reserve_bytes != nullptr) {
    *reserve_bytes =
        forward_mode == kTraining ? values_of_one_gate * (rnn.gates + 1) * rnn.layers : 0;
  }
  return kSuccess;
}
